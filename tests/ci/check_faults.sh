#!/usr/bin/env bash
# The planted faults of tests/simt/faults through the command, at sizes that it chooses:
# `ingot check` finds each and gives it a name that the file gives it, and finds nothing
# in its repaired twin. A line `// unseen: WHY` at the head of a file says that the command
# cannot see the fault, or `// data: ARRAY=LOW:HIGH` what the kernel expects of its inputs.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=0 found=0 named=0 clean=0 failed=0

# Prints the values of one kind of line at the head of a kernel file.
lines() { sed -n "s|^// $1:[ ]*||p" "$2"; }

# Says what is wrong.
complain() {
  echo "$1: $2"
  failed=$((failed + 1))
}

# Prints the names of the faults that a check finds.
faults() {
  local flags=() range
  while read -r range; do flags+=(--range "$range"); done < <(lines data "$1")
  "$INGOT" check "$1" "${flags[@]}" --json 2>/dev/null >"$work/json"
  local status=$?
  python3 - "$work/json" <<'PY'
import json, sys
for file in json.load(open(sys.argv[1])):
    for variant in file["variants"]:
        print(*{f["fault"] for f in variant["findings"] if f["severity"] == "error"}, sep="\n")
PY
  return $status
}

for file in "$SOURCE_DIR"/tests/simt/faults/*.ing; do
  name=${file##*/}
  files=$((files + 1))
  twin=$work/$name
  want=$(sed -n 's|.*//! \([a-z-]*\).*|\1|p' "$file" | grep -v '^other$' | sort -u)
  got=$(faults "$file")
  status=$?
  if [ -n "$(lines unseen "$file")" ]; then
    [ $status = 0 ] || complain "$name" "is found, though it is said to be unseen"
    continue
  fi
  notes=$(printf '%s\n' "$want" | grep -vE '^(redundant|rewritten)$')
  if [ -n "$notes" ]; then
    [ $status = 1 ] && found=$((found + 1)) || complain "$name" "exit $status"
    if grep -qxF "$notes" <<<"$got"; then
      named=$((named + 1))
    else
      complain "$name" "$(tr '\n' ' ' <<<"$got")instead of $(tr '\n' ' ' <<<"$want")"
    fi
  else
    files=$((files - 1))
  fi
  sed 's|^\( *\)\(.*\)// fixed: \(.*\)|\1\3|' "$file" >"$twin"
  got=$(faults "$twin")
  status=$?
  [ $status = 0 ] && clean=$((clean + 1)) || complain "$name" "the twin: exit $status, $got"
done

echo "$files faults: $found found, $named under their name; $clean twins without a fault"
[ "$failed" = 0 ] && [ "$found" -gt 0 ]
