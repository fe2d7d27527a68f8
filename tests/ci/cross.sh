#!/usr/bin/env bash
# The runtime's tests on other systems, by their compilers and emulators: Windows by
# mingw-w64 and wine, aarch64 by qemu; here under ThreadSanitizer; and the runtime as C++17
# by all compilers there are.
set -euo pipefail

work=$(mktemp -d)
wineserver=/usr/lib/wine/wineserver64
# Ends wine's server before its folder goes.
leave() {
  if [[ -x $wineserver ]]; then "$wineserver" -k || true; "$wineserver" -w || true; fi
  rm -rf "$work"
}
trap leave EXIT
cd "$SOURCE_DIR"
export WINEPREFIX=$work/wine WINEDEBUG=-all DISPLAY=

# Compilers of C and C++, what runs a program, further flags: a row for each system.
systems() {
  echo "windows|x86_64-w64-mingw32-gcc|x86_64-w64-mingw32-g++|/usr/lib/wine/wine64|-Itests/support/cross/windows -static -lpthread"
  echo "threads|clang-22|clang++-22|env|-fsanitize=thread -g -D_POSIX_C_SOURCE=200809L -ldl -lpthread"
  echo "aarch64|aarch64-linux-gnu-gcc|aarch64-linux-gnu-g++|qemu-aarch64 -L /usr/aarch64-linux-gnu|-D_POSIX_C_SOURCE=200809L -ldl -lpthread"
}

# Can programs of a system be made and run here? Its compiler, what runs them, flags.
works() {
  command -v "$1" >/dev/null && command -v "${2%% *}" >/dev/null || return 1
  echo 'int main(void) { return 0; }' >"$work/works.c"
  # shellcheck disable=SC2086
  "$1" "$work/works.c" -o "$work/works.exe" $3 && $2 "$work/works.exe"
}

# As C++ for one compiler.
as_cxx() {
  local source
  for source in runtime/*.c; do
    "$1" -std=c++17 -x c++ -Wall -Wextra -Wconversion -Wshadow -Werror -O2 -Iruntime \
      -c "$source" -o "$work/cxx.o"
  done
  echo "the runtime as C++17 by $1"
}

# All tests of the runtime on one system.
test_on() {
  local name=$1 cc=$2 run=$3 flags=$4 out=$work/$1 tests=0 test source
  mkdir -p "$out"
  # shellcheck disable=SC2086
  {
    for source in runtime/*.c; do
      "$cc" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O2 -Iruntime -c "$source" \
        -o "$out/$(basename "$source" .c).o" ${flags%% -D*}
    done
    ar rc "$out/libingot.a" "$out"/ingot*.o
    "$cc" -std=gnu11 -O1 -I. -shared -fPIC tests/fake_driver/*.c -o "$out/libcuda.so.1" $flags
    for test in tests/unit/runtime_*.c; do
      if grep -q 'nvptx/' "$test"; then continue; fi # of the compiler, too
      "$cc" -std=gnu11 -O1 -Itests/support/cross -I. "$test" "$out/libingot.a" -o "$out/test.exe" $flags
      FAKE_DRIVER=$out $run "$out/test.exe" >"$out/log" 2>&1 || { cat "$out/log"; echo "$name: $test fails"; exit 1; }
      tests=$((tests + $(grep -c '^ok ' "$out/log")))
    done
  }
  echo "$name: $tests tests"
  [[ $tests -gt 110 ]]
}

as_cxx clang++-22
if command -v g++ >/dev/null; then as_cxx g++; fi
missing=0
while IFS='|' read -r name cc cxx run flags; do
  if ! works "$cc" "$run" "$flags" >"$work/log" 2>&1; then
    echo "$name: not tested: $cc makes no program that ${run%% *} runs here"
    missing=1
    continue
  fi
  test_on "$name" "$cc" "$run" "$flags"
  if command -v "$cxx" >/dev/null; then as_cxx "$cxx"; fi
done < <(systems)
exit $((missing * 77))
