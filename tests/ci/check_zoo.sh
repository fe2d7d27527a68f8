#!/usr/bin/env bash
# Runs every kernel of a folder of the zoo on the executor, with sizes that `ingot check`
# chooses, under all policies: nothing may be found, every variant must have run, and each
# of its stores.
# Files with a line `// slow:` or `// long:` run one size of each kernel under one policy,
# unless INGOT_SLOW is set. check_seeds.sh does the same for the seeds.
set -uo pipefail

folder=${1:-.}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

# Prints the values of one kind of line at the head of a kernel file.
lines() { sed -n "s|^// $1:[ ]*||p" "$2"; }

# Prints the warnings that variants were not run, but for those that a line `// far:` names, which take
# only sizes that would run for long; tests/lit/check has these with smaller ones.
unrun() { grep "$1" "$log" | grep -v "variant \`$(lines far "$2" | grep . || echo -)[\`_]"; }

# Checks all kernels of a file.
check() {
  local file=$1 flags=(--cases 8) unrun='E1020\|E1040'
  if [ -n "$(lines slow "$file")$(lines long "$file")" ] && [ -z "${INGOT_SLOW:-}" ]; then
    flags=(--cases 1 --policies random) unrun=none
  fi
  if "$INGOT" check "$file" "${flags[@]}" >"$log" 2>&1 && [ -z "$(unrun "$unrun" "$file")" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "${file##*/}:"
    head -30 "$log"
  fi
}

for file in "$SOURCE_DIR/tests/kernels/$folder"/*.ing; do check "$file"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
