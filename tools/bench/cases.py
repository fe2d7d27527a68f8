"""What is measured: a row for each product, a row for each part."""

from collections import namedtuple

# The exit status of a process that lost the device, its last case reported.
LOST = 3

# A part of the run: its module in parts/, and what it is.
PARTS = {
    "gemm": "products of matrices on Tensor Cores beside cuBLAS, Triton and torch.compile",
}

# A product of matrices. `finish` names the epilogue (peers.EPILOGUES); layouts and types are
# those of the kernel's definition. `sizes` are numbers, or (M, N, K). `peers` and goals: the
# least ratio that is wanted against each, by size where it differs. `limit` is the largest
# relative error (Frobenius norm) that counts as right.
Product = namedtuple("Product", "file kernel arch finish sizes peers limit")

LARGE = (4096, 8192, 16384)
SMALL = (1024, 2048, 3072, 5120)
SHORT = ((8192, 8192, 256), (8192, 8192, 512))
ALL = LARGE + SMALL + SHORT

CUBLAS = {1024: 0.95, 2048: 0.95, 3072: 0.95, 5120: 0.95, 4096: 1.00, 8192: 1.02, 16384: 1.03,
          **{size: 1.0 for size in SHORT}}
TRITON = dict.fromkeys(LARGE, 1.05)
HALF = {"cublas": CUBLAS, "triton": TRITON}
FUSED = {"cublas": CUBLAS, "cublaslt": {}, "triton": TRITON}

PRODUCTS = (
    Product("gemm", "gemm_f16", "sm_90a", "", ALL, HALF, 1e-3),
    Product("gemm", "gemm_bf16_nt", "sm_90a", "bias_relu", ALL, FUSED, 4e-3),
    Product("gemm", "gemm_f16", "sm_90", "", (4096, 8192), {"cublas": dict.fromkeys(LARGE, 0.6)}, 1e-3),
    Product("sgemm", "sgemm", "sm_90", "", (4096, 8192, 2048), {"cublas": dict.fromkeys(LARGE, 1.04)}, 1e-5),
)
