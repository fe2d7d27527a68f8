#!/usr/bin/env bash
# Times whole compilations: the vector add against nvcc, with cold file caches where the
# system lets us drop them, and products on Tensor Cores against ptxas on the same PTX.
#
#   tools/bench/compile.sh INGOT [RUNS]
set -euo pipefail

ingot=$1
runs=${2:-10}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cat >"$out/vadd.cu" <<'CU'
extern "C" __global__ void __launch_bounds__(256)
vadd(long long n, const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C)
{
    long long i = ((long long)blockIdx.x * 256 + threadIdx.x) * 4;
    if (i + 3 < n) {
        float4 a = *(const float4 *)(A + i), b = *(const float4 *)(B + i);
        *(float4 *)(C + i) = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    } else {
        for (; i < n; i++)
            C[i] = A[i] + B[i];
    }
}
CU
prepare='sync; echo 3 2>/dev/null >/proc/sys/vm/drop_caches || true'
hyperfine --runs "$runs" --prepare "$prepare" --export-json "$out/times.json" \
  --command-name "ingot build, sm_90 + PTX" "$ingot build $root/tests/kernels/vadd.ing -o $out --arch sm_90" \
  --command-name "ingot build, sm_90 alone" "$ingot build $root/tests/kernels/vadd.ing -o $out --arch sm_90 --ptx none" \
  --command-name "nvcc -fatbin -arch=sm_90" "nvcc -fatbin -arch=sm_90 $out/vadd.cu -o $out/nvcc.fatbin"
hyperfine --warmup 3 --runs 30 \
  --command-name "ingot build --emit ptx" "$ingot build $root/tests/kernels/vadd.ing -o $out --emit ptx" \
  --command-name "ingot build, sm_90 alone" "$ingot build $root/tests/kernels/vadd.ing -o $out --arch sm_90 --ptx none" \
  --command-name "nvcc -fatbin -arch=sm_90" "nvcc -fatbin -arch=sm_90 $out/vadd.cu -o $out/nvcc.fatbin"
gemm=$root/tests/kernels/gemm.ing
"$ingot" build "$gemm" -o "$out" --arch sm_90a --emit ptx
hyperfine --warmup 1 --runs "$runs" --export-json "$out/gemm.json" \
  --command-name "ptxas -arch=sm_90a gemm.ptx" "ptxas -arch=sm_90a $out/gemm.sm_90a.ptx -o $out/gemm.cubin" \
  --command-name "ingot build gemm.ing, sm_90a alone" "$ingot build $gemm -o $out --arch sm_90a --ptx none"
