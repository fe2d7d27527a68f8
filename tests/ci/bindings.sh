#!/usr/bin/env bash
# What callers in other languages are given compiles under strict warnings, and works on the driver of
# tests/fake_driver: the number types in C++ (tests/bindings/numbers.cpp), object files with declarations (object.c).
set -euo pipefail

[[ -n ${FAKE_DRIVER:-} ]] || exit 77
inputs=$SOURCE_DIR/tests/bindings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
warnings="-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
cc -std=c11 -O1 -c "$SOURCE_DIR/runtime/ingot.c" -o ingot.o

# Prints what went wrong, and ends.
fail() {
  echo "FAIL: $*"
  exit 1
}

# Compiles the C++ program $2 by $1 with the options that follow, as ./main.
compile() {
  local compiler=$1 source=$2
  shift 2
  "$compiler" $warnings -I. -I"$SOURCE_DIR/runtime" "$@" "$source" ingot.o -ldl -lpthread -o main
}

# ---- Numbers: ingot_f16 and the like convert to CUDA's types, and to no other.

"$INGOT" build "$inputs/numbers.ing" --arch none
for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  for standard in 11 17 20; do
    compile $compiler "$inputs/numbers.cpp" -std=c++$standard
    [[ $(./main) == "3c00 1" ]] || fail "numbers: $(./main)"
  done
  ! compile $compiler "$inputs/numbers.cpp" -std=c++17 -DWRONG 2>log || fail "bf16 was taken for f16"
done
headers=/usr/local/cuda/include
[[ ! -e $headers/cuda_fp16.h ]] || compile g++ "$inputs/numbers.cpp" -std=c++17 -DWITH_CUDA -isystem $headers

# ---- An object file, and a header that only declares.

"$INGOT" build "$inputs/object.ing" --arch none --emit object --declarations
for compiler in gcc clang; do
  command -v $compiler >/dev/null || continue
  $compiler -std=c99 $warnings -Wmissing-prototypes -I. -I"$SOURCE_DIR/runtime" "$inputs/object.c" object.c object.o \
    ingot.o -ldl -lpthread -o main
  ./main "$FAKE_DRIVER/libcuda.so.1" >log || fail "object: $(cat log)"
done
