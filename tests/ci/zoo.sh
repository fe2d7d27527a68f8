#!/usr/bin/env bash
# Runs every kernel of the zoo on the CPU, lowered and checked after every pass, at the
# sizes of its `// test:` lines, compares each element with the reference, and sees that
# the sizes of its `// refused:` lines are refused. No schedule leaves most of a GPU idle (E0671,
# E0734, E0735), but for what a line `// warns:` names, and in seeds/, whose texts are given. Files
# with a line `// slow:` run at their first sizes alone, unless INGOT_SLOW is set.
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

# Runs kernel $3 of a file at one set of sizes, or at several, of which each names the same; the
# exit status must be $2, and each set must have been run. A process lowers the kernel once.
check_kernel() {
  local file=$1 wanted=$2 kernel=$3 flags sizes status runs warned
  shift 3
  flags=(--device cpu --arch none --no-timing --checked --kernel "$kernel")
  for sizes; do [ -z "$sizes" ] || flags+=(--size "${sizes// /,}"); done
  "$INGOT" run "$file" "${flags[@]}" >"$log" 2>&1
  status=$? runs=$(grep -c "^$kernel on the CPU" "$log")
  warned=$(sed -n 's/^warning\[\(E0671\|E073[45]\)\].*/\1/p' "$log" | sort -u | paste -sd' ')
  if [ "$status" = "$wanted" ] && [[ $wanted != 0 || $runs = $# ]] &&
    [[ $wanted != 0 || $file == */seeds/* || $warned = "$(lines warns "$file")" ]]; then
    passed=$((passed + $#))
  else
    failed=$((failed + 1))
    echo "${file##*/} $kernel ${*:-(no sizes)}: exit status $status instead of $wanted, $runs of $# runs, warned: $warned"
    tail -n 20 "$log"
  fi
}

for file in "$SOURCE_DIR"/tests/kernels/{,features/,seeds/,matrix/}*.ing; do
  most=1000
  [ -z "$(lines slow "$file")" ] || [ -n "${INGOT_SLOW:-}" ] || most=1
  mapfile -t tests < <(lines test "$file" | head -n "$most")
  mapfile -t refused < <(lines refused "$file")
  for kernel in $(kernels "$file"); do
    [ ${#tests[@]} = 0 ] || check_kernel "$file" 0 "$kernel" "${tests[@]}"
    for sizes in "${refused[@]}"; do check_kernel "$file" 1 "$kernel" "$sizes"; done
  done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
