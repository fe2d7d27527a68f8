#!/usr/bin/env bash
# Runs every kernel of the zoo on the CPU, lowered and checked after every pass, at the
# sizes of its `// test:` lines, compares each element with the reference, and sees that
# the sizes of its `// refused:` lines are refused. Files with a line `// slow:` run at
# their first sizes alone, unless INGOT_SLOW is set.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

# Prints the values of one kind of line at the head of a kernel file.
lines() { sed -n "s|^// $1:[ ]*||p" "$2"; }

# Prints the names of the kernels of a file: of all instances, or those of its `// sample:` line.
kernels() {
  if [ -z "${INGOT_SLOW:-}" ] && lines sample "$1" | grep .; then return; fi
  "$INGOT" opt "$1" | sed -n 's|^kernel \([A-Za-z0-9_]*\).*|\1|p'
}

# Runs each kernel of a file at one line of sizes; the exit status must be $3.
check() {
  local kernel
  for kernel in $(kernels "$1"); do check_kernel "$1" "$2" "$3" "$kernel"; done
}

# Runs kernel $4 of a file at one line of sizes; the exit status must be $3.
check_kernel() {
  local file=$1 sizes=$2 wanted=$3 kernel=$4 status
  local flags=(--device cpu --arch none --no-timing --checked --kernel "$kernel")
  [ -n "$sizes" ] && flags+=(--size "${sizes// /,}")
  "$INGOT" run "$file" "${flags[@]}" >"$log" 2>&1
  status=$?
  if [ "$status" = "$wanted" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "${file##*/} $kernel ${sizes:-(no sizes)}: exit status $status instead of $wanted"
    head -12 "$log"
  fi
}

for file in "$SOURCE_DIR"/tests/kernels/{,features/,seeds/,matrix/}*.ing; do
  most=1000
  [ -z "$(lines slow "$file")" ] || [ -n "${INGOT_SLOW:-}" ] || most=1
  while read -r sizes; do check "$file" "$sizes" 0; done < <(lines test "$file" | head -n "$most")
  while read -r sizes; do check "$file" "$sizes" 1; done < <(lines refused "$file")
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
