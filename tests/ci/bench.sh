#!/usr/bin/env bash
# tools/bench without PyTorch and a GPU: its parts are listed, the kernels of its tables
# exist, and what it would launch can be built.
set -euo pipefail
command -v python3 >/dev/null && command -v cc >/dev/null || exit 77

bench=$SOURCE_DIR/tools/bench
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$bench

python3 - "$bench" "$INGOT" <<'PY'
import ast, functools, glob, os, sys
import artifact, cases

for path in glob.glob(f"{sys.argv[1]}/**/*.py", recursive=True):
    ast.parse(open(path).read(), path)
has_kernel = functools.partial(artifact.has_kernel, sys.argv[2])
for file, kernel, _ in cases.kernels(cases.PARTS):
    assert has_kernel(os.path.join(artifact.KERNELS, file) + ".ing", kernel), f"{file}.ing has no kernel {kernel}"
PY

"$bench/run.py" --list >"$out/list"
for part in gemm rows launch; do
    grep -q "^$part  " "$out/list"
done
"$bench/run.py" "$INGOT" "$out" --only transposition launch --build-only | tee "$out/built"
[ "$(xargs ls <"$out/built" | grep -c "transpose_tile.so\|vadd.so\|empty.so")" = 3 ]

python3 - "$INGOT" "$out" <<'PY'
import ctypes, sys
import artifact

builder = artifact.Builder(sys.argv[1], sys.argv[2], keep=True)
bridge = builder.built("transpose_tile", "transpose_tile", "sm_90")
library = ctypes.CDLL(bridge)
kernel = artifact.Kernel(library, builder.entry(f"{sys.argv[2]}/transpose_tile_sm_90", "transpose_tile",
                                                "transpose_tile"), None)
assert kernel.shape(kernel.arrays[1], {"m": 3, "n": 5}) == (5, 3)
library.bridge_workspace.restype = ctypes.c_size_t
assert library.bridge_workspace(kernel.numbers({"m": 3, "n": 5})) == 0
assert library.bridge_launch and library.bridge_open and library.bridge_time
PY

python3 - "$out/results.json" <<'PY'
import json, sys
import report

path = sys.argv[1]
first = report.Report(path)
first.row("gemm", "one", "said", ratios={"peer": 1.5}, goals={"peer": 1.0},
          tflops={"ingot": 3, "peer": 2}, errors={"ingot": {"norm": 1e-3}})
again = report.Report(path, resume=True)
again.failure("gemm", "two", "why")
rows = json.load(open(path))["rows"]
assert [r["case"] for r in rows] == ["one", "two"] and rows[1]["failed"] == "why"
assert again.summary() == 1
PY
"$bench/tables.py" "$out/results.json" >"$out/tables"
grep -qF '| one | 3.0 | peer 2: **1.500** (1.500 to 1.500) | ingot 1.00e-03 |' "$out/tables"
grep -qF -- '- failed: two: why' "$out/tables"
