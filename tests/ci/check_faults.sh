#!/usr/bin/env bash
# The planted faults of tests/simt/faults through the command, at sizes and data that it
# chooses: `ingot check` finds each, exits with 1 and gives it a name that the file gives it;
# in its repaired twin, and in the files that only have notes, it finds nothing.
#
#   // target: sm_90a       the architecture, where it is not the usual one
#   // check: --strict      options of the command, at the head of a file
#   // unseen: WHY          the command cannot see the fault
set -euo pipefail

cd "$SOURCE_DIR/tests/simt/faults"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Checks a file with the options that its original has: the report and the exit code go beside it.
check_one() {
  local code=0
  read -ra options < <(sed -n 's|^// check: *||p; s|^// target: *|--arch |p' "${1##*/}" | tr '\n' ' ')
  "$INGOT" check --json "${options[@]}" "$1" >"$1.json" 2>"$1.err" || code=$?
  echo "$code" >"$1.code"
}
export -f check_one
export INGOT
mkdir "$scratch/file" "$scratch/twin"
for file in *.ing; do
  cp "$file" "$scratch/file"
  sed 's|^\( *\).*// fixed:[ ]*\(.*\)|\1\2|' "$file" >"$scratch/twin/$file"
done
find "$scratch" -name '*.ing' | sort | xargs -P 2 -I{} bash -c 'check_one {}'

python3 - "$scratch" <<'PYTHON'
import json
import pathlib
import re
import sys

scratch = pathlib.Path(sys.argv[1])
NOTES = {"other", "redundant", "rewritten"}
files = sorted((scratch / "file").glob("*.ing"))
count = dict.fromkeys(("files", "found", "named", "unseen", "clean"), 0)
wrong = 0


def outcome(path):
    """Return the exit code of a check and the names of the faults that it found."""
    code = int(path.with_name(path.name + ".code").read_text())
    report = json.loads(path.with_name(path.name + ".json").read_text() or "[]")
    findings = [f for file in report for variant in file["variants"] for f in variant["findings"]]
    return code, {f["fault"] for f in findings if f["severity"] == "error"}


def judge(path, what, ok, got):
    """Count what is as it should be, and print what is not."""
    global wrong
    count[what] += ok
    wrong += not ok
    if not ok:
        print(f"{path.name}: not {what}: exit {got[0]}, {sorted(got[1])}")


for path in files:
    text = path.read_text()
    want = set(re.findall(r"//! ([a-z-]+)", text)) - NOTES
    got = outcome(path)
    if "\n// unseen:" in text:
        judge(path, "unseen", got[0] == 0, got)
    elif want:
        count["files"] += 1
        judge(path, "found", got[0] == 1, got)
        judge(path, "named", bool(want & got[1]), got)
    elif got[0]:
        judge(path, "clean", False, got)
    twin = scratch / "twin" / path.name
    judge(twin, "clean", outcome(twin)[0] == 0, outcome(twin))
print("{files} faults: {found} found, {named} under their name, {unseen} unseen; {clean} twins without a fault"
      .format(**count))
sys.exit(wrong > 0 or count["found"] < 100)
PYTHON
