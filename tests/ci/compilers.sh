#!/usr/bin/env bash
# What Ingot compiles does not depend on the C compiler that it was built with, which may evaluate arguments in another
# order, for one: gcc's build and clang's, that of the preset `sanitize`, write the same LLVM IR for a sample, byte for
# byte, before LLVM optimises it.
. "$SOURCE_DIR/tests/support/script.sh"

# Prints the C compiler of the build folder $1.
compiler() {
  realpath "$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$1/CMakeCache.txt")"
}

other=${INGOT_SANITIZED:-}
[[ -n $other ]] || { echo "skipped: no build by another C compiler"; exit 77; }
[[ $(compiler "$BUILD_DIR") != $(compiler "$other") ]] || { echo "skipped: both are built by one compiler"; exit 77; }

files=("$SOURCE_DIR"/tests/kernels/{cast_f8e4m3,cast_f8e5m2,cast_bf16,histogram,scan,softmax,sort,transpose_tma}.ing
  "$SOURCE_DIR"/tests/lit/schedule/std/gemm_sm{8,9}0.ing)
for one in "$BUILD_DIR" "$other"; do
  "$one/ingot" build "${files[@]}" --arch sm_80,sm_90a --emit llvm -o "$work/$(basename "$one")" >"$work/log" 2>&1 ||
    fail "$one: $(cat "$work/log")"
done
diff -rq "$work/$(basename "$BUILD_DIR")" "$work/$(basename "$other")" || fail "the two write different code"
[[ $failures = 0 ]] || exit 1
echo "$(find "$work/$(basename "$other")" -name '*.ll' | wc -l) files of LLVM IR: the same by both"
