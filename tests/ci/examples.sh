#!/usr/bin/env bash
# The projects of docs/examples build without a warning, and compute what the CPU does on the driver of
# tests/fake_driver, which runs what is queued as late as it may: a wait that is missing is a wrong result. CUDA's
# runtime is that of tests/examples, so no toolkit is needed; where there is one, its headers declare the same.
set -uo pipefail

[[ -n ${FAKE_DRIVER:-} ]] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR" || exit 1

# A toolkit.
mkdir -p "$work/cuda/include" "$work/cuda/lib64"
cp tests/examples/cuda_runtime_api.h "$work/cuda/include"
cc -std=c11 -O2 -Wall -Wextra -Werror -I. -shared -fPIC tests/examples/*.c -o "$work/cuda/lib64/libcudart.so" \
  -L"$FAKE_DRIVER" -l:libcuda.so.1 -Wl,-rpath,"$FAKE_DRIVER" -lm || exit 1

warnings='-O1 -Wall -Wextra -Werror'
export CUDA=$work/cuda ARCH=none CFLAGS=$warnings CXXFLAGS=$warnings LD_LIBRARY_PATH=$FAKE_DRIVER
docs/examples/run.sh --build "$work/programs" >"$work/log" 2>&1 &&
  PIPELINE='-c 3000 20000 7' INGOT=/nowhere docs/examples/run.sh --run "$work/programs" >>"$work/log" 2>&1
status=$?
cat "$work/log"
[[ $status == 0 ]] || exit 1

# What each prints of its result, and two tables of 13 lines.
for line in 'saxpy: 1000003 elements, 0 wrong; y\[7\] = 15' 'softmax: 37 rows of 1001, 0 wrong' \
  'heat: 500 steps, 0 wrong' 'logistic: 3000017 elements on 2 GPUs, 0 wrong; y\[2048\] = 0.875'; do
  grep -q "^$line" "$work/log" || { echo "FAIL: no line $line"; exit 1; }
done
! command -v go >/dev/null || grep -q '^gray: 8 pictures, 0 wrong' "$work/log" || { echo "FAIL: no gray pictures"; exit 1; }
[[ $(grep -c 'times$' "$work/log") == 26 ]] || { echo "FAIL: the tables of the pipeline"; exit 1; }

# Both steps in one, and what fails.
docs/examples/run.sh c >"$work/log" && grep -q '^saxpy: .* 0 wrong' "$work/log" ||
  { echo "FAIL: one example"; exit 1; }
mkdir "$work/none"
docs/examples/run.sh --run "$work/none" >"$work/log"
[[ $? == 77 ]] || { echo "FAIL: nothing to run"; exit 1; }
ln -s /bin/false "$work/none/c"
if docs/examples/run.sh --run "$work/none" >"$work/log" || ! grep -q '^c: FAILED' "$work/log"; then
  echo "FAIL: an example that fails"
  exit 1
fi

# The toolkit's own headers.
headers=/usr/local/cuda/include
[[ -e $headers/cuda_runtime_api.h ]] || { echo "not compiled with CUDA's headers: there is no toolkit"; exit 0; }
for file in docs/examples/*/*.ing; do
  "$INGOT" build "$file" -o "$work/out" --embed --arch none --bindings c++ || exit 1
done
for file in docs/examples/*/main.c; do
  cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$work/out" -Iruntime -isystem $headers "$file" || exit 1
done
g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$work/out" -Iruntime -isystem $headers docs/examples/cpp/main.cpp
