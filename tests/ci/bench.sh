#!/usr/bin/env bash
# tools/bench without a GPU: its parts are listed, the kernels of its tables exist, and what
# it would launch can be built; where there is PyTorch, drawn cases run on the CPU
# (bench_cpu.py).
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

python3 - <<'PY'
import cases, drawn

once = list(drawn.cases(7, 40))
assert once == list(drawn.cases(7, 40)) != list(drawn.cases(8, 40))
assert len(once) == 40 * len(drawn.FAMILIES)
for family, row, sizes in once:
    assert min(sizes.values()) >= 1, (family.name, sizes)
    if family.draw is drawn.large:
        assert all(512 <= extent <= 12288 for extent in sizes.values()), sizes
        assert len({extent % 8 == 0 for extent in sizes.values()}) == 1, sizes
    if family.draw is drawn.large_bytes:
        assert len({extent % 16 == 0 for extent in sizes.values()}) == 1, sizes
    if family.draw is drawn.skinny:
        assert min(sizes["M"], sizes["N"]) <= 64, sizes
    if family.draw is drawn.matrix_and_vector:
        assert all(2048 <= extent < 16384 for extent in sizes.values()), sizes
        assert len({extent % 8 == 0 for extent in sizes.values()}) == 1, sizes
    if family.draw is drawn.vector:
        assert 1 << 20 <= sizes["n"] <= 1 << 29, sizes
    if family.draw is drawn.images:
        assert 7 <= min(sizes["H"], sizes["W"]) and max(sizes["H"], sizes["W"]) <= 224, sizes
        assert sizes["B"] <= 256 and sizes["B"] * sizes["C"] * sizes["H"] * sizes["W"] <= 1 << 26, sizes
    if family.draw is drawn.gather:
        assert sizes["n"] <= sizes["m"] and sizes["m"] * sizes["d"] <= 1 << 27 and sizes["d"] <= 4096, sizes
assert {(row.file, row.kernel) for _, row, _ in once} <= {row[:2] for row in cases.kernels(["any"])}
assert {family.name for family, *_ in drawn.cases(7, 1, "8-bit")} == {"8-bit products", "small 8-bit products"}
rows = [{"family": "rows", "speeds": {"copy": r / 16}, "case": f"case {r}"} for r in (16, 4, 8)] + [{"case": "another"}]
lines = list(drawn.summary(rows))
assert lines[0].startswith("rows over copy: 3 cases, geometric mean 0.500 ") and lines[0].endswith("MISSED"), lines
assert lines[1:] == ["    0.250  case 4", "    0.500  case 8", "    1.000  case 16",
                     "rows: 3 cases without compiled"], lines
rows = [{"family": "scans", "speeds": {"copy": 0.9, "best": r, "eager": 2}, "case": f"case {r}",
         "absent": {"cub": f"no {r}"}} for r in (2, 3)]
assert list(drawn.summary(rows)) == [
    "scans over copy: 2 cases, geometric mean 0.900 (wanted 0.85), tenth percentile 0.900 (wanted 0.75) ok",
    "    0.900  case 2", "    0.900  case 3",
    "scans over best: 2 cases, geometric mean 2.449, tenth percentile 2.000", "    2.000  case 2", "    3.000  case 3",
    "scans over eager: 2 cases, geometric mean 2.000, tenth percentile 2.000",
    "scans: cub not run in 2 cases: no 2"], list(drawn.summary(rows))
assert cases.kernels(["any"], "gathers") == [("embedding", "embedding", "sm_90")]
PY

python3 - "$INGOT" <<'PY'
import sys, zoo

assert zoo.timed("scan") == {"n": 268435456} and zoo.timed("sort") and not zoo.timed("reductions")
assert zoo.scheduled("permute") == {"permute_021", "permute_210", "permute_120", "permute_102"}
assert zoo.scheduled("top_k") == {"top"} and not zoo.scheduled("sort")
assert zoo.ranges("segments") == {"first": ("0", "nnz + 1", True)} and zoo.ranges("csr_spmv")["col"] == ("0", "m", False)
assert zoo.kernels(sys.argv[1], "scan_rows") == ["row_prefix_sum", "row_greatest", "column_prefix_sum"]
assert len(zoo.kernels(sys.argv[1], "gemm_8bit")) == 14 and zoo.kernels(sys.argv[1], "dgemm")[0] == "dgemm_nn"
assert zoo.rules(sys.argv[1], "transpose") == {"transpose": "transpose"}
rows = [{"without": r, "case": f"plan {r}", "rule": "scan"} for r in (0.5, 0.4, 1.0)] + [{"case": "another"}]
assert list(zoo.summary(rows)) == ["without schedules: 3 kernels, 2 below 0.6 of the speed with them; slowest first",
    *(f"      {r:.3f}  plan {r:<35} scan" for r in (0.4, 0.5, 1.0))], list(zoo.summary(rows))
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

if python3 -c "import torch" 2>/dev/null; then
    for family in vectors gathers histograms; do
        python3 "$SOURCE_DIR/tests/ci/bench_cpu.py" "$INGOT" "$out/cpu" $family
    done
fi
