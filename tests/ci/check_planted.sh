#!/usr/bin/env bash
# `ingot check --strict` finds the planted faults of tests/check/faulty at sizes, orders and data that it
# chooses, names them by the class in their first line at a line marked `//!`, and finds
# none in tests/check/right.
#
# Of the faulty ones 97 in 100 must be found and 95 named; of the right ones all must pass.
set -euo pipefail

cd "$SOURCE_DIR/tests/check"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Checks one file: the report and the exit code go into the scratch folder.
check_one() {
  local out=$scratch/${1//\//-} code=0
  "$INGOT" check --strict --json "$1" >"$out.json" 2>"$out.err" || code=$?
  echo "$code" >"$out.code"
}
export -f check_one
export INGOT scratch
find faulty right -name '*.ing' | sort | xargs -P 2 -I{} bash -c 'check_one {}'

python3 - "$scratch" <<'PYTHON'
import json
import pathlib
import sys

scratch = pathlib.Path(sys.argv[1])
# What diagnostics tell that are no findings of the executor: what the definition reads that nobody
# has written, and a result that differs.
DIAGNOSED = {"E1042": "uninitialised", "E1016": "differs"}


def findings(path):
    """Return the faults of a report: name and the lines that it tells."""
    for file in json.loads((scratch / f"{path}.json").read_text() or "[]"):
        for d in file.get("diagnostics", []):
            if d["code"] in DIAGNOSED:
                yield DIAGNOSED[d["code"]], {d.get("line")}
        for variant in file.get("variants", []):
            for f in variant.get("findings", []):
                if f["severity"] == "error":
                    yield f["fault"], {f.get("line"), (f.get("other") or {}).get("line")}


def outcome(file):
    """Return the exit code of a check, whether it names the fault as it should, and all its faults."""
    path = f"{file.parent.name}-{file.name}"
    lines = file.read_text().split("\n")
    wanted = lines[0].partition("class:")[2].partition("|")[0].split()
    marks = {n for n, line in enumerate(lines, 1) if "//!" in line}
    code = int((scratch / f"{path}.code").read_text())
    found = list(findings(path)) if code in (0, 1) else []
    if code not in (0, 1):
        print(f"{file}: exit code {code}")
    return code, any(name in wanted and at & marks for name, at in found), found


def tell(files, is_bad, what):
    """Print what is bad of the files; return how many are good."""
    bad = [f for f in files if is_bad(f)]
    for f in bad:
        print(f"{f}: {what}: {sorted({name for name, _ in results[f][2]})}")
    return len(files) - len(bad)


faulty, right = (sorted(pathlib.Path(d).glob("*.ing")) for d in ("faulty", "right"))
results = {f: outcome(f) for f in faulty + right}
found = tell(faulty, lambda f: results[f][0] != 1, "not found")
named = tell(faulty, lambda f: not results[f][1], "not named")
passed = tell(right, lambda f: results[f][0] != 0, "not clean")
print(f"{found} of {len(faulty)} faults found, {named} named; {passed} of {len(right)} right kernels pass")
enough = 100 * found >= 97 * len(faulty) and 100 * named >= 95 * len(faulty)
sys.exit(not (faulty and right and enough and passed == len(right)))
PYTHON
