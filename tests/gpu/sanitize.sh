#!/usr/bin/env bash
# Runs every kernel of the zoo at its first three lines of `// test:` sizes under each tool
# of NVIDIA's compute-sanitizer, and prints one line per run. Skipped without a GPU or the tool.
#
#   INGOT=build/static/ingot SOURCE_DIR=. tests/gpu/sanitize.sh [LOGDIR]
#
# ARCH names the GPU's architecture (sm_90), JOBS how many runs go at once, TOOLS which tools.
set -uo pipefail

[ -e /dev/nvidia0 ] || { echo "no GPU: skipped"; exit 77; }
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | tail -1)
[ -n "$sanitizer" ] || { echo "no compute-sanitizer: skipped"; exit 77; }
logs=${1:-$(mktemp -d)}
export INGOT SOURCE_DIR ARCH=${ARCH:-sm_90} logs sanitizer
mkdir -p "$logs"

# Runs a kernel of a file at one line of sizes under one tool; prints a line and keeps the log. A tool that
# ends without a report, as it does at times when many run at once, is started again, twice at most.
# The runtime's question about parameters that a kernel lacks is no fault: API errors are left out.
run_one() {
  local file=$1 tool=$2 sizes=$3 kernel=$4 flags=(--kernel "$4") log status name=${1##*/}
  [ -n "$sizes" ] && flags+=(--size "${sizes// /,}")
  log="$logs/${name%.ing}-$kernel-$tool-${sizes//[ =]/_}.log"
  for attempt in 1 2 3; do
    timeout 280 "$sanitizer" --tool "$tool" $([ "$tool" = memcheck ] && echo --report-api-errors no) \
      --error-exitcode 9 "$INGOT" run "$file" --arch "$ARCH" "${flags[@]}" \
      --reference none --no-timing --sets 1 >"$log" 2>&1
    status=$?
    grep -q SUMMARY "$log" && break
  done
  printf '%s %-26s %-10s %-28s %s\n' "$([ $status = 0 ] && echo clean || echo FAULT)" \
    "$kernel" "$tool" "${sizes:--}" "$(grep -m1 -E '=====.*(rror|azard|ninit)' "$log" | cut -c1-80)"
}
export -f run_one

list() {
  for file in "$SOURCE_DIR"/tests/kernels/{,features/,seeds/}*.ing; do
    sed -nE 's/^\/\/ test:[ ]*//p' "$file" | head -3 | while read -r sizes; do
      for kernel in $("$INGOT" opt "$file" | sed -n 's|^kernel \([A-Za-z0-9_]*\).*|\1|p'); do
        for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
          printf '%s\0' "$file" "$tool" "$sizes" "$kernel"
        done
      done
    done
  done
}

list | xargs -0 -n 4 -P "${JOBS:-6}" bash -c 'run_one "$@"' run_one | tee "$logs/summary.txt"
for tool in ${TOOLS:-memcheck racecheck synccheck initcheck}; do
  echo "$tool: $(grep -c "^clean.* $tool " "$logs/summary.txt") clean, $(grep -c "^FAULT.* $tool " "$logs/summary.txt") not"
done
! grep -q '^FAULT' "$logs/summary.txt"
