#!/usr/bin/env bash
# Runs cases of the schedule fuzzer on a GPU: each that the compiler accepts, at all of its sizes in one process,
# through the cubin, every element compared with the definition. Sizes that the kernel's `where` excludes, those whose
# arrays take more than 8 GB, and those at which the definition itself faults, count as skipped. Integers that are no
# sizes are 3, as in the fuzzer. Skipped without a GPU.
#
#   INGOT=build/static/ingot FUZZ=build/static/tests/fuzz_schedule tests/gpu/fuzz.sh [CASES] [LOGDIR]
#
# SEED and FIRST choose the cases (1, 0), ARCH names the GPU's architecture (sm_90), JOBS how many go at once; after
# LIMIT seconds no further one begins. DEVICE=cpu tries the script without a GPU: it evaluates, and skips roles.
set -uo pipefail

export DEVICE=${DEVICE:-gpu}
[ "$DEVICE" = cpu ] || [ -e /dev/nvidia0 ] || { echo "no GPU: skipped"; exit 77; }
[ -n "${FUZZ:-}" ] || { echo "no fuzzer: skipped"; exit 77; }
cases=${1:-1000} logs=${2:-$(mktemp -d)}
end=$(($(date +%s) + ${LIMIT:-1000000}))
export INGOT FUZZ ARCH=${ARCH:-sm_90} SEED=${SEED:-1} logs end
mkdir -p "$logs"

# Prints a line for each run of a log: pass, skip or FAIL, the case, the sizes, the first error. Of $2 runs, those
# that the log does not tell of failed.
tell_runs() {
  awk -v name="$1" -v runs="$2" '
    function tell() {
      print error ~ /E090[57]|E0910|roles wait/ ? "skip" : error == "" && ran ? "pass" : "FAIL", name, sizes, substr(error, 1, 100)
      error = ""
      told++
    }
    /^[a-z_0-9]+ (on .*|did not complete)$/ { if (begun) tell(); begun = 1; ran = 0; sizes = "-" }
    / equal the reference / { ran = 1 }
    /^  .*, seed [0-9]+$/ { sizes = $0; sub(/, seed .*/, "", sizes); gsub(/ /, "", sizes) }
    /error\[/ && error == "" { error = $0 }
    END {
      if (begun) tell()
      for (; told < runs; told++) print "FAIL", name, "-", error == "" ? "no report" : substr(error, 1, 100)
    }' "$3"
}

# Writes a case, and runs it at all of its lines of sizes.
run_case() {
  [ "$(date +%s)" -lt "$end" ] || return
  local file=$logs/case-$1.ing log=$logs/case-$1.log lines sizes scalars flags=()
  timeout 60 "$FUZZ" --seed "$SEED" --first "$1" --cases 1 --print 2>/dev/null |
    awk '/^\/\/ Schedule fuzzer:/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' >"$file"
  grep -q '^// holds' "$file" || { echo "skip case-$1 $(grep -m1 '^// [a-z]*:' "$file" | cut -c1-70)"; return; }
  mapfile -t lines < <(sed -nE 's/^\/\/ test:[ ]*//p' "$file")
  scalars=$(grep -m1 '^kernel ' "$file" | grep -oE '\bp[0-9]+: (int|[iu](8|16|32|64))\b' | sed 's/: .*/=3/' | paste -sd,)
  for sizes in "${lines[@]}"; do
    sizes=${sizes// /,}${scalars:+${sizes:+,}$scalars}
    [ -n "$sizes" ] && flags+=(--size "$sizes")
  done
  timeout 120 "$INGOT" run "$file" --device "$DEVICE" --arch "$ARCH" --ptx none "${flags[@]}" --memory 8G \
    --no-timing --sets 1 >"$log" 2>&1
  tell_runs "case-$1" "$((${#flags[@]} ? ${#flags[@]} / 2 : 1))" "$log"
}
export -f run_case tell_runs

seq "${FIRST:-0}" $((${FIRST:-0} + cases - 1)) | xargs -n 1 -P "${JOBS:-6}" bash -c 'run_case "$@"' run_case \
  >"$logs/summary.txt"
grep '^FAIL' "$logs/summary.txt"
agreed=$(grep '^pass' "$logs/summary.txt" | cut -d' ' -f2 | sort -u | wc -l)
echo "$agreed cases at $(grep -c '^pass' "$logs/summary.txt") sizes agree, $(grep -c '^FAIL' "$logs/summary.txt") differ," \
  "$(grep -c '^skip' "$logs/summary.txt") were not accepted or have no such sizes"
[ "$agreed" -gt 0 ] && ! grep -q '^FAIL' "$logs/summary.txt"
