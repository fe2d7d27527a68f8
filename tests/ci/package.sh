#!/usr/bin/env bash
# What is installed serves the projects of tests/package: they configure, build, link, run,
# build again when they must, and only then.
set -uo pipefail

if grep -q '^INGOT_INSTRUMENT:[A-Z]*=.' "$BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: an instrumented runtime links with nothing else"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cp -r "$SOURCE_DIR/tests/package" "$work/projects"
cd "$work/projects" || exit 1

# Prints what went wrong, and goes on.
complain() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# Configures project $1 in $1/build with the options that follow.
configure() {
  local name=$1
  shift
  cmake -S "$name" -B "$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$work/prefix" "$@" >log 2>&1 || complain "$name: $(cat log)"
}

# Builds project $1.
build() {
  cmake --build "$1/build" >log 2>&1 || complain "$1: $(cat log)"
}

# Prints the block of the kernel in the header that project c built.
block() {
  grep -o 'block\[3\] = {[0-9]*' c/build/kernels/scale.v2.h | head -1
}

cmake --install "$BUILD_DIR" --prefix "$work/prefix" >log 2>&1 || complain "install: $(cat log)"
cmp -s "$SOURCE_DIR/LICENSE" "$work"/prefix/share/doc/*/LICENSE || complain "no licence"
nm -A "$work/prefix/lib/libingot_runtime.a" >log
grep -q ' T ingot_open$' log || complain "no runtime"

configure cxx
build cxx
cxx/build/app >log || complain "cxx: $(cat log)"

configure c
build c
c/build/app || complain "c: two libraries share a runtime"
nm -D c/build/libone.so >log
grep -q runtime_of_one log && ! grep -q ' ingot_' log || complain "c: exports $(cat log)"
strings -a c/build/kernels/scale.v2.fatbin >log
grep -q '^\.file.*"kernels/scale.v2.ing"' log || complain "c: $(grep '^\.file' log)"
before=$(block)
build c
grep -q 'no work to do' log || complain "c: built again: $(cat log)"
echo 'scale 1 threads=256' >c/kernels/scale.v2.tuned
build c
[[ -n $before && $(block) != "$before" ]] || complain "c: tuned later: $before, $(block)"
build c
grep -q 'no work to do' log || complain "c: built again: $(cat log)"
rm c/kernels/scale.v2.tuned
build c
[[ $(block) == "$before" ]] || complain "c: not tuned any more: $before, $(block)"

configure library
build library
cmake --install library/build --prefix "$work/prefix" >log 2>&1 || complain "library: $(cat log)"
configure consumer
build consumer
consumer/build/app || complain "consumer: exit status $?"

# The runtime as a file of the program: clean under the flags that its README names.
cc -std=c11 -Wall -Wextra -Wpedantic -Wcast-qual -Wshadow -Wconversion -Werror -O2 -c \
  -o runtime.o "$work/prefix/share/ingot/ingot.c" -I"$work/prefix/include/ingot" >log 2>&1 ||
  complain "ingot.c: $(cat log)"

[[ $failures == 0 ]]
