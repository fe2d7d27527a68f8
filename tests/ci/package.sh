#!/usr/bin/env bash
# What is installed serves the projects of tests/package: they configure, build, link, run,
# build again when they must, and only then.
set -uo pipefail
unset MAKEFLAGS MFLAGS

. "$SOURCE_DIR/tests/support/script.sh"
needs_plain_runtime
cp -r "$SOURCE_DIR/tests/package" "$work/projects"
cd "$work/projects" || exit 1

# Configures project $1 in $1/build with the options that follow.
configure() {
  local name=$1
  shift
  cmake -S "$name" -B "$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$work/prefix" "$@" >log 2>&1 || fail "$name: $(cat log)"
}

# Builds project $1.
build() {
  cmake --build "$1/build" >log 2>&1 || fail "$1: $(cat log)"
}

# Prints the block of the kernel in the header that project c built.
block() {
  grep -o 'block\[3\] = {[0-9]*' c/build/kernels/scale.v2.h | head -1
}

cmake --install "$BUILD_DIR" --prefix "$work/prefix" >log 2>&1 || fail "install: $(cat log)"
for file in LICENSE NOTICE; do
  cmp -s "$SOURCE_DIR/$file" "$work/prefix/share/doc/ingot/$file" || fail "no $file"
done
nm -A "$work/prefix/lib/libingot_runtime.a" >log
grep -q ' T ingot_open$' log || fail "no runtime"

configure cxx
build cxx
cxx/build/app >log || fail "cxx: $(cat log)"

configure c
build c
c/build/app || fail "c: two libraries share a runtime"
nm -D c/build/libone.so >log
grep -q runtime_of_one log && ! grep -q ' ingot_' log || fail "c: exports $(cat log)"
strings -a c/build/kernels/scale.v2.fatbin >log
grep -q '^\.file.*"kernels/scale.v2.ing"' log || fail "c: $(grep '^\.file' log)"
grep -q 'pool = kernels' c/build/build.ninja || fail "c: no pool"
before=$(block)
build c
grep -q 'no work to do' log || fail "c: built again: $(cat log)"
echo 'scale 1 threads=256' >c/kernels/scale.v2.tuned
build c
[[ -n $before && $(block) != "$before" ]] || fail "c: tuned later: $before, $(block)"
build c
grep -q 'no work to do' log || fail "c: built again: $(cat log)"
rm c/kernels/scale.v2.tuned
build c
[[ $(block) == "$before" ]] || fail "c: not tuned any more: $before, $(block)"

configure library
build library
cmake --install library/build --prefix "$work/prefix" >log 2>&1 || fail "library: $(cat log)"
configure consumer
build consumer
consumer/build/app || fail "consumer: exit status $?"

# Ingot as a part of the project: without a command, it is configured as a whole.
configure tree -DINGOT="$SOURCE_DIR" -DINGOT_CUDA="$INGOT_CUDA"
configure tree -DINGOT_COMMAND="$INGOT"
build tree
tree/build/app || fail "tree: exit status $?"
cmake --install tree/build --prefix "$work/tree" >log 2>&1 || fail "tree: $(cat log)"
grep -q 'INTERFACE_LINK_LIBRARIES "Ingot::runtime"' "$work"/tree/lib/cmake/tree/*.cmake ||
  fail "tree: exports no runtime"

# For another machine.
if command -v aarch64-linux-gnu-g++ >/dev/null; then
  configure cross --toolchain "$PWD/cross/aarch64.cmake"
  build cross
  for file in app libwhole.so; do
    readelf -h "cross/build/$file" >log
    grep -q 'Machine: *AArch64' log || fail "cross: $file: $(cat log)"
  done
  nm -D cross/build/libwhole.so | grep -q ' ingot_' && fail "cross: exports the runtime"
  cmake --install cross/build --prefix "$work/cross" >log 2>&1 || fail "cross: $(cat log)"
else
  echo "not tested: no compiler for aarch64 on this machine"
fi

# By make and pkg-config alone, from a prefix that has been moved.
mv "$work/prefix" "$work/moved"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
make -C make -j2 ARCH=none >log 2>&1 || fail "make: $(cat log)"
make/app >log || fail "make: $(cat log)"
make -C make -q ARCH=none >log 2>&1 || fail "make: built again"
mv "$work/moved" "$work/prefix"

# Below make, ingot has as many assemblers at a time as make has jobs, for all kernels together.
if [[ -n $INGOT_CUDA ]]; then
  mkdir -p cuda/bin
  ln -s "$INGOT_CUDA/nvvm" cuda/nvvm
  ln -s "$INGOT_CUDA/bin/ptxas" cuda/bin/real
  cp jobs/ptxas cuda/bin/ptxas
  configure jobs -G 'Unix Makefiles' -DCUDA="$PWD/cuda"
  echo 3 >cuda/bin/meet
  make -C jobs/build -j3 >log 2>&1 || fail "jobs: $(cat log)"
  grep -q jobserver log && fail "jobs: $(grep jobserver log)"
  most=$(awk '/begin/ { if (++n > most) most = n } /end/ { n-- } END { print most }' cuda/bin/log)
  [[ $most == 3 ]] || fail "jobs: $most at a time"
fi

# The runtime as a file of the program: clean under the flags that its README names.
cc -std=c11 -Wall -Wextra -Wpedantic -Wcast-qual -Wshadow -Wconversion -Werror -O2 -c \
  -o runtime.o "$work/prefix/share/ingot/ingot.c" -I"$work/prefix/include/ingot" >log 2>&1 ||
  fail "ingot.c: $(cat log)"

[ $failures = 0 ]
