#!/usr/bin/env bash
# What tests/gpu/runtime.sh runs on a GPU, on the driver of tests/fake_driver: that all it expects can be met, and
# that it fails where something is not.
set -uo pipefail

[[ -n ${FAKE_DRIVER:-} && -n ${INGOT_CUDA:-} ]] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR" || exit 1

# A toolkit, whose kernels are those of the test.
mkdir -p "$work/cuda/include" "$work/cuda/lib64"
cp tests/examples/cuda_runtime_api.h "$work/cuda/include"
cc -std=c11 -O2 -Wall -Wextra -Werror -I. -shared -fPIC tests/examples/cudart.c tests/gpu/runtime/fake_kernels.c \
  -o "$work/cuda/lib64/libcudart.so" -L"$FAKE_DRIVER" -l:libcuda.so.1 -Wl,-rpath,"$FAKE_DRIVER" || exit 1

export LD_LIBRARY_PATH=$FAKE_DRIVER
CUDA=$work/cuda bash tests/gpu/runtime.sh --build "$work/programs" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
bash tests/gpu/runtime.sh --run "$work/programs" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
cat "$work/log"
[[ $(grep -c '^pass ' "$work/log") == 25 ]] || { echo "FAIL: not 25 checks passed" && exit 1; }

# A program that checks no array is noticed, and no more than that.
cp "$work/programs/main" "$work/programs/debug"
bash tests/gpu/runtime.sh --run "$work/programs" >"$work/log" 2>&1
[[ $(grep -E '^FAIL ' "$work/log") == 'FAIL arrays, with INGOT_DEBUG'* ]] || { cat "$work/log" && exit 1; }
