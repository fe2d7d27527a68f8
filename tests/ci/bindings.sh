#!/usr/bin/env bash
# What callers in other languages are given compiles under strict warnings, and works on the driver of
# tests/fake_driver: the number types in C++ (tests/bindings/numbers.cpp), object files with declarations
# (object.c), C++ (wrapper.cpp), Python, Rust and Go (call.*), as far as there are compilers.
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

# ---- Languages: each launches the kernel of object.ing, and compiles that of names.ing.

driver=$FAKE_DRIVER/libcuda.so.1
mkdir languages
cd languages
"$INGOT" build "$inputs/object.ing" "$inputs/names.ing" --arch none --bindings c++,python,rust,go
for name in object names; do
  cc -shared -fPIC -O1 -I"$SOURCE_DIR/runtime" -DINGOT_EXPORT $name.c "$SOURCE_DIR/runtime/ingot.c" -ldl -lpthread \
    -o lib$name.so
done

for compiler in g++ clang++; do
  command -v $compiler >/dev/null || continue
  for name in object names; do cc -O1 -I"$SOURCE_DIR/runtime" -c $name.c -o $name.o; done
  for standard in 17 20; do
    $compiler $warnings -std=c++$standard -I. -I"$SOURCE_DIR/runtime" "$inputs/wrapper.cpp" object.o names.o \
      ../ingot.o -ldl -lpthread -o main
    ./main "$driver" || fail "c++: $compiler"
  done
done

# Without declarations, too.
"$INGOT" build "$inputs/object.ing" -o inline --arch none --bindings c++
printf '#include "object.hpp"\nint main() {}\n' >inline/main.cpp
g++ $warnings -std=c++17 -I"$SOURCE_DIR/runtime" inline/main.cpp ../ingot.o -ldl -lpthread -o main

cp "$inputs/call.py" .
PYTHONDONTWRITEBYTECODE=1 python3 call.py "$driver" || fail "python"

if command -v rustc >/dev/null; then
  cp "$inputs/call.rs" .
  for edition in 2021 2024; do
    rustc --edition $edition -D warnings call.rs -o call -L . -l object -l names -C link-arg=-Wl,-rpath,. || fail "rust"
    ./call "$driver" || fail "rust"
  done
else
  echo "rust: not tried, there is no rustc"
fi

if command -v go >/dev/null; then
  for name in object names; do
    mkdir -p go/$name
    cp $name.go $name.c $name.h "$SOURCE_DIR"/runtime/ingot.[ch] go/$name
  done
  cp "$inputs/call.go" object.fatbin go
  echo 'module bindings' >go/go.mod
  (cd go && GOCACHE=$work/cache GOFLAGS=-mod=mod go vet ./... && GOCACHE=$work/cache go run . "$driver") || fail "go"
  [[ -z $(gofmt -l go/object go/names) ]] || fail "gofmt: $(gofmt -d go/object)"
else
  echo "go: not tried, there is no go"
fi
