#!/usr/bin/env bash
# What is packed serves users' projects on a system that has compilers and nothing else of ours:
#
#   cmake --preset static && cmake --build build/static
#   cpack --config build/static/CPackConfig.cmake -B out && tools/wheel build/static out
#   debootstrap --variant=minbase --include=gcc,g++,libc6-dev,make,cmake,ninja-build,pkg-config,\
#     python3,python3-pip,golang-go,cargo trixie /tmp/bare
#   tests/package/bare.sh out /tmp/bare
#
# As root. Unpacks the .tar.gz, the .deb and the wheel below /tmp/bare, and there has the projects of this
# folder configured, built and run, the last ones on the driver of tests/fake_driver: a C++ project by CMake,
# one by make, a program in C, and one each in Go and, from Rust 1.82 on, by Cargo. Prints the seconds of each.
# No part of CI: debootstrap takes minutes.
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
  [[ $# == 2 && -x $2/bin/sh ]] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
  source=$(cd "$(dirname "$0")/../.." && pwd)
  rm -rf "$2/bare"
  mkdir "$2/bare"
  find "$1" -maxdepth 1 -name 'ingot[-_]*' -type f -exec cp {} "$2/bare" \;
  cp -r "$source"/tests/{package,bindings,fake_driver} "$2/bare"
  exec env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/bare chroot "$2" bash /bare/package/bare.sh --inside
fi
cd /bare

# Runs what follows $1 and prints its seconds; its output, if it fails.
timed() {
  local what=$1 began
  shift
  began=$(date +%s%N)
  "$@" >log 2>&1 || { cat log; echo "FAIL: $what"; exit 1; }
  printf '%-28s %6d ms\n' "$what" $((($(date +%s%N) - began) / 1000000))
}

# Prints whether version $1 is at least $2.
at_least() {
  [[ $(printf '%s\n' "$1" "$2" | sort -V | head -1) == "$2" ]]
}

unpack_tgz() { mkdir -p "/opt/a folder" && tar -xzf ingot-*.tar.gz -C "/opt/a folder"; }
unpack_deb() { dpkg -i ingot_*.deb; }
unpack_wheel() { python3 -m pip install --no-index --no-deps --prefix /opt/wheel ingot-*.whl; }

# Builds and runs the C++ project.
by_cmake() {
  rm -rf cxx
  cp -r package/cxx cxx
  cmake -S cxx -B cxx/build -DIngot_DIR="$prefix/lib/cmake/Ingot" && cmake --build cxx/build && cxx/build/app
}

# Builds and runs the project of make.
by_make() {
  rm -rf make
  cp -r package/make make
  make -C make -j2 ARCH=none && make/app
}

# Builds a program in C and has it launch a kernel.
by_hand() {
  rm -rf hand
  mkdir hand
  "$prefix/bin/ingot" build bindings/object.ing -o hand --arch none
  cc -O1 -Ihand -I"$prefix/include/ingot" bindings/images.c "$prefix/share/ingot/ingot.c" -ldl -lpthread -o hand/app
  [[ $(hand/app hand/object.fatbin "$PWD/libcuda.so.1") == compute_75 ]]
}

# Has a program in Go launch a kernel.
by_go() {
  mkdir -p go
  for name in object names; do
    mkdir -p go/$name
    "$prefix/bin/ingot" build bindings/$name.ing -o go/$name --arch none --bindings go
    cp "$prefix/share/ingot/ingot.c" "$prefix/include/ingot/ingot.h" go/$name
  done
  cp go/object/object.fatbin bindings/call.go go
  echo 'module bindings' >go/go.mod
  (cd go && GOFLAGS=-mod=mod GOPATH=/bare/gopath GOCACHE=/bare/cache go run . /bare/libcuda.so.1)
}

# Has a program in Rust launch a kernel.
by_cargo() {
  cp -r package/cargo cargo
  cp bindings/{object,names}.ing cargo
  cp bindings/call.rs cargo/src
  export INGOT=$prefix/bin/ingot INGOT_RUNTIME=$prefix/share/ingot INGOT_INCLUDE=$prefix/include/ingot
  (cd cargo && cargo build --offline && cp src/object.fatbin . && target/debug/app /bare/libcuda.so.1)
}

. /etc/os-release
echo "$PRETTY_NAME, glibc $(getconf GNU_LIBC_VERSION | cut -d' ' -f2)"
cc -shared -fPIC -O1 fake_driver/*.c -lpthread -o libcuda.so.1
cmake=$(cmake --version 2>/dev/null | sed -n '1s/.* //p')
rust=$(rustc --version 2>/dev/null | cut -d' ' -f2)
for packed in tgz deb wheel; do
  timed "$packed: unpack" unpack_$packed
  case $packed in
    tgz) prefix=$(echo "/opt/a folder"/ingot-*) ;;
    deb) prefix=/usr ;;
    wheel) prefix=$(dirname "$(dirname "$(find /opt/wheel -path '*/bin/ingot')")") ;;
  esac
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  timed "$packed: ingot --version" "$prefix/bin/ingot" --version
  if at_least "${cmake:-0}" 3.25; then timed "$packed: C++ by CMake" by_cmake; fi
  if [[ $packed != tgz ]]; then timed "$packed: C by make" by_make; fi
  timed "$packed: C by hand" by_hand
done
if command -v go >/dev/null; then timed "wheel: Go" by_go; fi
if at_least "${rust:-0}" 1.82; then timed "wheel: Rust by Cargo" by_cargo; else echo "Rust ${rust:-none}: not tried"; fi
