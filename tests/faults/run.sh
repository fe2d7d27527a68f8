#!/usr/bin/env bash
# `ingot run` with and without a driver: the whole way to a GPU and back, on a driver
# that the test builds (fake_gpu.c), and each way in which that fails.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1

cat >vadd.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
ING
cc -w -shared -fPIC -O1 -o libcuda.so.1 "$SOURCE_DIR/tests/faults/fake_gpu.c" || exit 1

# The same sums by way of a workspace, and with scalars.
cat >workspace.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] {
    alloc copy: f32[n] in global
    for i in 0..n { copy[i] = A[i] }
    for i in 0..n { C[i] = copy[i] + B[i] }
}
ING
cat >scalars.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n], C: f32[n] inout, s: f32, k: i8) {
    for i in 0..n { C[i] = A[i] + B[i] + (s - s) * f32(k) }
}
ING
cat >dot.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[1] { C[i] = sum(k in n) A[k] * B[k] }
ING

# Runs `ingot run` with the arguments behind the first three: it must exit with $1, and
# its output hold $3. $2 says what goes wrong with the GPU; $file is the kernel.
file=vadd.ing
expect() {
  local status=$1 mode=$2 text=$3 got
  shift 3
  FAKE_GPU=$mode "$INGOT" run "$file" --size n=1000 "$@" >log 2>&1
  got=$?
  if [[ $got != "$status" ]] || ! grep -qF -- "$text" log; then
    fail "FAKE_GPU=$mode ingot run $*: exit $got instead of $status, wanted: $text, got: $(cat log)"
  fi
}

fake=(--driver "$work/libcuda.so.1" --jit)
expect 0 "" 'C: all 1000 elements equal the reference (eval)' "${fake[@]}"
expect 0 "" 'vadd on Fake GPU: compute_75' "${fake[@]}"
expect 0 "" 'replayed from a graph' "${fake[@]}"
expect 0 slow 'GB/s' "${fake[@]}" --reps 3 --sets 2
expect 0 slow '"kind": "gpu"' "${fake[@]}" --json
expect 0 "" 'vadd on Fake GPU' "${fake[@]}" --size n=0
expect 0 "" 'vadd on Fake GPU' "${fake[@]}" --no-timing --reference none
expect 1 idle 'E0908' "${fake[@]}"
expect 1 idle '1000 elements hold what they held before' "${fake[@]}"
expect 1 idle '"wrong": 1000' "${fake[@]}" --json
expect 1 outside 'E0909' "${fake[@]}"
expect 3 fail:cuMemAlloc_v2 'cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY (2)' "${fake[@]}"
expect 3 fail:cuMemcpyDtoH_v2 'E0902' "${fake[@]}"
expect 3 fail:cuEventRecord 'E0902' "${fake[@]}"
expect 3 fail:cuEventElapsedTime 'E0902' "${fake[@]}"
expect 3 fail:cuStreamBeginCapture_v2 'E0902' "${fake[@]}"
expect 3 fail:cuStreamEndCapture 'E0902' "${fake[@]}"
expect 3 fail:cuLaunchKernel 'E0903' "${fake[@]}"
expect 3 fail:cuModuleLoadDataEx 'E0903' "${fake[@]}"
expect 3 empty 'E0901' "${fake[@]}" --device gpu
expect 0 empty 'on the CPU, evaluated: the NVIDIA driver has no usable GPU' "${fake[@]}"
expect 0 fail:cuDeviceGetAttribute 'evaluated: the NVIDIA driver does not describe its GPU' "${fake[@]}"
expect 0 fail:cuDevicePrimaryCtxRetain 'evaluated: the GPU takes no further program' "${fake[@]}"
expect 0 fail:cuCtxSetCurrent 'evaluated: the GPU cannot be selected' "${fake[@]}"
expect 0 fail:cuMemGetInfo_v2 'vadd on Fake GPU: compute_75' "${fake[@]}"

# The GPU has 16 MiB: sizes that do not fit are refused, the others run.
expect 3 "" 'E0907]: the run needs 24000000 bytes of GPU memory, and can have 16777216' "${fake[@]}" --size n=2000000
expect 3 "" 'C: all 1001 elements equal the reference' "${fake[@]}" --size n=2000000 --size n=1001
expect 3 "" 'bytes of GPU memory, and can have 30000' "${fake[@]}" --sets 3 --memory 30000
expect 0 "" 'GB/s' "${fake[@]}" --sets 2 --memory 30000
expect 1 idle 'C: 7 of 7 elements DIFFER' "${fake[@]}" --size n=7
expect 0 fail:cuMemGetInfo_v2 'C: all 2000000 elements equal' "${fake[@]}" --size n=2000000 --no-timing

# Machine code for the GPU found, or for its next lower relative.
if [[ -n ${INGOT_CUDA:-} && -x $INGOT_CUDA/bin/ptxas ]]; then
  expect 0 "" 'vadd on Fake GPU: sm_90a (exact)' --driver "$work/libcuda.so.1"
  FAKE_SM=88 expect 0 "" 'vadd on Fake GPU: sm_87 (same family)' --driver "$work/libcuda.so.1"
fi

file=workspace.ing
expect 0 "" 'C: all 1000 elements equal the reference' "${fake[@]}"
expect 3 fail:cuMemsetD8_v2 'E0902' "${fake[@]}"
file=scalars.ing
expect 0 "" 'C: all 1000 elements equal the reference' "${fake[@]}" --scalar s=0.5,k=-3
expect 0 "" '"k": -3' "${fake[@]}" --scalar s=0.5,k=-3 --json
expect 0 "" '"s": 0.5' "${fake[@]}" --scalar s=0.5,k=-3 --json
# One sum of a thousand terms: rounding is no difference, one term less is.
file=dot.ing
for seed in 1 2 3; do
  expect 0 dot 'C: all 1 elements equal the reference' "${fake[@]}" --no-timing --seed $seed
  expect 1 short 'E0908' "${fake[@]}" --no-timing --seed $seed
done
file=vadd.ing

# What `ingot doctor` says of the GPU: it must exit with $1, and its output hold $3.
doctor() {
  local got
  FAKE_GPU=$2 "$INGOT" doctor --driver "$work/libcuda.so.1" >log 2>&1
  got=$?
  if [[ $got != "$1" ]] || ! grep -qF -- "$3" log; then
    fail "FAKE_GPU=$2 ingot doctor: exit $got instead of $1, wanted: $3, got: $(cat log)"
  fi
}
doctor 0 "" 'GPU 0      Fake GPU, sm_90'
doctor 0 empty 'has no usable GPU'
doctor 3 fail:cuMemcpyDtoH_v2 'does not give back what is copied to it'

# No driver, and a library that is none.
expect 0 "" 'on the CPU, evaluated: no NVIDIA driver' --driver "$work/missing.so"
expect 3 "" 'there is no GPU to run on' --driver "$work/missing.so" --device gpu
echo 'int nothing;' | cc -shared -fPIC -o none.so -xc -
expect 3 "" 'the NVIDIA driver is too old' --driver "$work/none.so" --device gpu

# Nothing is left behind.
rm ./*.ing ./*.so* log
[[ -z $(ls -A) ]] || fail "left behind: $(ls -A)"
[ $failures = 0 ]
