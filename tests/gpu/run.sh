#!/usr/bin/env bash
# Runs every kernel of the zoo on a GPU at the sizes of its `// test:` and `// large:` lines, compares
# each element with the reference, and prints one line per run: once through the cubin
# of this GPU, once through PTX that the driver compiles. Skipped without a GPU.
#
#   INGOT=build/static/ingot SOURCE_DIR=. tests/gpu/run.sh [LOGDIR]
#
# ARCH names the GPU's architecture (sm_90), JOBS how many runs go at once.
set -uo pipefail

[ -e /dev/nvidia0 ] || { echo "no GPU: skipped"; exit 77; }
logs=${1:-$(mktemp -d)}
export INGOT SOURCE_DIR ARCH=${ARCH:-sm_90} logs
mkdir -p "$logs"

# Runs a kernel of a file at one line of sizes by one path; prints a line and keeps the log.
run_one() {
  local file=$1 mode=$2 sizes=$3 kernel=$4 flags=(--kernel "$4") log status begin=$SECONDS
  local name=${file##*/}
  [ -n "$sizes" ] && flags+=(--size "${sizes// /,}")
  [ "$mode" = ptx ] && flags+=(--jit)
  name=${name%.ing}
  [ "$name" = "$kernel" ] || name=$name.$kernel
  log="$logs/$name-$mode-${sizes//[ =]/_}.log"
  timeout 280 "$INGOT" run "$file" --arch "$ARCH" "${flags[@]}" >"$log" 2>&1
  status=$?
  printf '%s %-22s %-5s %-32s %3d s  %s\n' "$([ $status = 0 ] && echo pass || echo FAIL)" \
    "$name" "$mode" "${sizes:--}" $((SECONDS - begin)) "$(grep -m1 -iE 'error' "$log" | cut -c1-90)"
}
export -f run_one

list() {
  for file in "$SOURCE_DIR"/tests/kernels/{,features/,seeds/}*.ing; do
    sed -nE 's/^\/\/ (test|large):[ ]*//p' "$file" | while read -r sizes; do
      for kernel in $("$INGOT" opt "$file" | sed -n 's|^kernel \([A-Za-z0-9_]*\).*|\1|p'); do
        for mode in cubin ptx; do printf '%s\0' "$file" "$mode" "$sizes" "$kernel"; done
      done
    done
  done
}

list | xargs -0 -n 4 -P "${JOBS:-6}" bash -c 'run_one "$@"' run_one | tee "$logs/summary.txt"
passed=$(grep -c '^pass' "$logs/summary.txt")
failed=$(grep -c '^FAIL' "$logs/summary.txt")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
