#!/usr/bin/env bash
# Runs cases of the schedule fuzzer on a GPU: each that the compiler accepts, at all of its sizes, through
# the cubin, every element compared with the definition. Sizes that the kernel's `where` excludes, and those
# whose arrays no memory holds, count as skipped. Skipped without a GPU.
#
#   INGOT=build/static/ingot FUZZ=build/static/tests/fuzz_schedule tests/gpu/fuzz.sh [CASES] [LOGDIR]
#
# SEED and FIRST choose the cases (1, 0), ARCH names the GPU's architecture (sm_90), JOBS how many go at once.
set -uo pipefail

[ -e /dev/nvidia0 ] || { echo "no GPU: skipped"; exit 77; }
[ -n "${FUZZ:-}" ] || { echo "no fuzzer: skipped"; exit 77; }
cases=${1:-1000} logs=${2:-$(mktemp -d)}
export INGOT FUZZ ARCH=${ARCH:-sm_90} SEED=${SEED:-1} logs
mkdir -p "$logs"

# Writes a case, and runs it at each of its lines of sizes; prints a line for each.
run_case() {
  local file=$logs/case-$1.ing flags log status
  timeout 60 "$FUZZ" --seed "$SEED" --first "$1" --cases 1 --print 2>/dev/null |
    awk '/^\/\/ Schedule fuzzer:/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' >"$file"
  grep -q '^// holds' "$file" || { echo "skip case-$1 $(grep -m1 '^// [a-z]*:' "$file" | cut -c1-70)"; return; }
  sed -nE 's/^\/\/ test:[ ]*//p' "$file" | while read -r sizes; do
    flags=(); [ -n "$sizes" ] && flags=(--size "${sizes// /,}")
    log=${file%.ing}-${sizes//[ =]/_}.log
    timeout 120 "$INGOT" run "$file" --arch "$ARCH" --ptx none "${flags[@]}" --no-timing --sets 1 >"$log" 2>&1
    status=$?
    grep -qE 'error\[E090[57]\]' "$log" && { echo "skip case-$1 $sizes $(grep -m1 error "$log" | cut -c1-70)"; continue; }
    printf '%s case-%s %s %s\n' "$([ $status = 0 ] && echo pass || echo FAIL)" "$1" "${sizes:--}" \
      "$(grep -m1 -iE 'error' "$log" | cut -c1-100)"
  done
}
export -f run_case

seq "${FIRST:-0}" $((${FIRST:-0} + cases - 1)) | xargs -n 1 -P "${JOBS:-6}" bash -c 'run_case "$@"' run_case \
  >"$logs/summary.txt"
grep '^FAIL' "$logs/summary.txt"
agreed=$(grep '^pass' "$logs/summary.txt" | cut -d' ' -f2 | sort -u | wc -l)
echo "$agreed cases at $(grep -c '^pass' "$logs/summary.txt") sizes agree, $(grep -c '^FAIL' "$logs/summary.txt") differ," \
  "$(grep -c '^skip' "$logs/summary.txt") were not accepted or have no such sizes"
[ "$agreed" -gt 0 ] && ! grep -q '^FAIL' "$logs/summary.txt"
