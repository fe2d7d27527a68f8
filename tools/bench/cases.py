"""What is measured: tables, one row for each case or family of cases."""

from collections import namedtuple

from artifact import EMPTY

# The exit status of a process that lost the device, its last case reported.
LOST = 3

# A part of the run: its module in parts/, and what it is.
Part = namedtuple("Part", "module text")
PARTS = {
    "gemm": Part("gemm", "GEMMs beside cuBLAS, Triton and torch.compile"),
    "ragged": Part("ragged", "the same kernels at sizes that no tile divides: right or wrong"),
    "vadd": Part("memory", "vector addition beside a copy and torch.add"),
    "rows": Part("memory", "softmax, norms and sums beside a copy and PyTorch"),
    "transposition": Part("memory", "a transposition beside a copy and PyTorch"),
    "chains": Part("chains", "schedules in steps, each beside the first of its chain"),
    "any": Part("any", "sizes drawn from a seed: means, percentiles and the worst (not run unless named)"),
    "plan": Part("plan", "the zoo by rules alone, beside itself with its schedules (not run unless named)"),
    "launch": Part("launch", "what a launch costs, on the host and on the device"),
}

# Those that run only where they are named.
NAMED = ("any", "plan")

# A GEMM. `finish` names the epilogue (definitions.EPILOGUES); layouts and types
# are those of the kernel. `sizes` are numbers or (M, N, K). `peers` has, for each peer
# (peers.PEERS), the sizes at which it is measured, with the least ratio wanted, or None.
# `limit` is the largest relative error (of norms) that counts as right.
Product = namedtuple("Product", "file kernel arch finish sizes peers limit")

LARGE = (4096, 8192, 16384)
SMALL = (1024, 2048, 3072, 5120)
SHORT = ((8192, 8192, 256), (8192, 8192, 512))
DEEP = ((512, 512, 65536), (1024, 512, 16384))
ALL = LARGE + SMALL + SHORT


def at(sizes, goal=None):
    return dict.fromkeys(sizes, goal)


CUBLAS = {4096: 1.00, 8192: 1.02, 16384: 1.03, **at(SMALL, 0.95), **at(SHORT, 1.0)}
HALF = {"cublas": CUBLAS, "triton": at(LARGE, 1.05)}
FUSED = {"cublas": at(ALL), "cublaslt": CUBLAS}
WARPS = {"cublas": at((4096, 8192), 0.6), "triton_sm80": at((4096, 8192), 0.6)}
TUNED = {"cublaslt": at((4096, 8192)), "compiled": at((4096, 8192), 1.05)}
EIGHT = at((8192,), 0.95)
PLAIN = {"cublas": at((8192,))}
TURNED = ("nn", "tn", "tt")
SINGLE = {"cublas": {2048: None, 4096: 1.04, 8192: 1.04}}

PRODUCTS = (
    Product("gemm", "gemm_f16_nn", "sm_90a", "", ALL, HALF, 1e-3),
    Product("gemm", "gemm_bf16_nt", "sm_90a", "", ALL, HALF, 4e-3),
    Product("sgemm", "sgemm_nn", "sm_90a", "", (4096, 8192, 2048), SINGLE, 1e-5),
    Product("sgemm_split", "sgemm_split_nt", "sm_90a", "", (4096, 8192), {"cublas": at((4096, 8192), 1.5)}, 1e-5),
    Product("gemm_epilogue", "gemm_bias_relu", "sm_90a", "bias_relu", LARGE, FUSED, 4e-3),
    Product("gemm_tf32", "gemm_tf32_nt", "sm_90a", "", (8192,), {"cublas_tf32": EIGHT, "triton": at((8192,))}, 2e-3),
    Product("gemm_8bit", "gemm_e4m3_nt", "sm_90a", "", (8192,), {"scaled": EIGHT, "triton": at((8192,))}, 1e-2),
    Product("gemm_8bit", "gemm_i8_nt", "sm_90a", "", (8192,), {"integers": EIGHT, "triton": at((8192,))}, 0),
    Product("gemm", "gemm_f16_nn", "sm_90", "", (4096, 8192), WARPS, 1e-3),
    Product("gemm", "gemm_f16_nt", "sm_90", "", (4096, 8192), WARPS, 1e-3),
    Product("gemm", "gemm_f16_nt", "sm_90a", "", LARGE, HALF, 1e-3),
    Product("gemm", "gemm_bf16_nn", "sm_90a", "", LARGE, HALF, 4e-3),
    Product("sgemm", "sgemm_nn", "sm_90", "", (8192,), PLAIN, 1e-5),
    Product("matmul_async", "matmul_async", "sm_90", "", (4096, 8192), SINGLE, 1e-5),
    Product("gemm_epilogue", "gemm_bias_gelu", "sm_90a", "bias_gelu", (4096, 8192), TUNED, 1e-3),
    Product("gemm_epilogue", "gemm_bias_gelu_tanh", "sm_90a", "bias_gelu_tanh", (8192,), TUNED, 4e-3),
    *(Product("gemm", f"gemm_f16_{way}", "sm_90a", "", DEEP, {"cublas": at(DEEP)}, 1e-3)
      for way in ("nn", "nt")),
    *(Product("gemm", f"gemm_{kind}_{way}", "sm_90a", "", (8192,), PLAIN, 4e-3)
      for kind in ("f16", "bf16") for way in ("tn", "tt")),
    *(Product("gemm_tf32", f"gemm_tf32_{way}", "sm_90a", "", (8192,), {"cublas_tf32": EIGHT, "triton": at((8192,))}, 2e-3)
      for way in TURNED),
    *(Product("gemm_8bit", f"gemm_i8_{way}", "sm_90a", "", (8192,), {"integers_copied": EIGHT, "triton": at((8192,))}, 0)
      for way in TURNED),
    *(Product("gemm_8bit", f"gemm_e4m3_{way}", "sm_90a", "", (8192,), {"scaled_copied": EIGHT, "triton": at((8192,))}, 1e-2)
      for way in TURNED),
    *(Product("gemm_8bit", f"gemm_e5m2_{way}", "sm_90a", "", (8192,), {"triton": EIGHT}, 1e-2)
      for way in ("nt", *TURNED)),
)

RAGGED = ((3000, 5000, 1000), (4095, 4097, 4099), (1, 1, 1), (17, 17, 17), (0, 0, 0),
          (0, 64, 64), (64, 64, 0), (129, 264, 72))

# A kernel that moves bytes, or a batch of products. `sizes` are those of its parameters; `definition` names what it
# computes (definitions.py) in double precision, which in single precision is also its peer.
Memory = namedtuple("Memory", "part file kernel sizes definition limit arch", defaults=["sm_90"])

SQUARE, NARROW = {"m": 16384, "n": 16384}, {"m": 1 << 18, "n": 1024}
LONG = {"m": 8192, "n": 32768}

MEMORY = (
    Memory("vadd", "vadd", "vadd", ({"n": 1 << 28},), "add", 1e-7),
    Memory("rows", "softmax_rows", "softmax_1024", ({"m": 1 << 18},), "softmax", 1e-5),
    Memory("rows", "softmax_rows", "softmax_4096", ({"m": 1 << 16},), "softmax", 1e-5),
    Memory("rows", "softmax_rows", "softmax_32768", ({"m": 1 << 13},), "softmax", 1e-5),
    Memory("rows", "features/softmax_long", "softmax_long", ({"m": 1 << 13},), "softmax", 1e-5),
    Memory("rows", "features/softmax_async", "softmax_async", ({"m": 1 << 13},), "softmax", 1e-5),
    Memory("rows", "features/softmax_tma", "softmax_tma", ({"m": 1 << 13},), "softmax", 1e-5),
    Memory("rows", "features/softmax_bulk", "softmax_bulk", ({"m": 1 << 16},), "softmax", 1e-5),
    Memory("rows", "softmax_online", "softmax_online", ({"m": 1 << 16, "n": 4096}, LONG), "softmax", 1e-5),
    Memory("rows", "norms", "rms_norm", ({"m": 1 << 16},), "rms_norm", 1e-4),
    Memory("rows", "norms", "layer_norm", ({"m": 1 << 16},), "layer_norm", 1e-4),
    Memory("rows", "row_sum_by_schedule", "row_sum_block", (SQUARE, NARROW), "row_sum", 1e-4),
    Memory("rows", "row_sum_by_schedule", "row_sum_warp", (SQUARE, NARROW), "row_sum", 1e-4),
    Memory("rows", "row_sum_by_schedule", "col_sum_parts", (SQUARE, NARROW), "col_sum", 1e-4),
    Memory("rows", "row_sum_by_schedule", "sum_all", (SQUARE, NARROW), "total", 1e-3),
    Memory("transposition", "transpose_tile", "transpose_tile",
           ({"m": 8192, "n": 8192}, SQUARE, {"m": 8191, "n": 4097}), "transpose", 0),
)

# Kernels that compute the same, each a step from the one before: (file, kernel) of each.
Chain = namedtuple("Chain", "name steps sizes definition limit")

CUBE = {"M": 1024, "N": 1024, "K": 1024}
BRICK = {"M": 6000, "N": 4000, "K": 4800}
DEPTHWISE = tuple((f"dwconv_v{v}", f"dwconv_v{v}") for v in range(5))


def steps(pattern, kernel, words):
    return tuple((f"seeds/{pattern.format(w)}", kernel.format(w)) for w in words)


CHAINS = (
    Chain("depthwise", DEPTHWISE, {}, "depthwise", 1e-5),
    Chain("000 fixed", steps("000_matmul_1024", "{}_1024", ("naive", "blocking", "shared")), {},
          "product", 1e-5),
    Chain("000 open", steps("000_matmul_{}", "matmul_{}", ("naive", "blocking", "shared")), CUBE,
          "product", 1e-5),
    Chain("002", steps("002_hgemm_{}", "hgemm_{}", ("naive", "blocked", "local", "tile")), CUBE,
          "product_tn", 1e-5),
    *(Chain(f"003 {t}", steps(f"003_matmul_{{}}_{t}", f"matmul_{{}}_{t}", ("naive", "shared")), BRICK,
            "product", 1e-4) for t in ("f32", "f64")),
    *(Chain(f"004 {form}", steps(f"004_dwconv_v{{}}_{form}", f"dwconv_v{{}}_{form}", range(5)), {},
            "depthwise", 1e-5) for form in ("plain", "shared", "local", "unrolled")),
)

# What the part `launch` needs.
LAUNCHED = ((EMPTY, "empty", "sm_90"), ("vadd", "vadd", "sm_90"))


def drawn_kernels(family):
    """The same for the part `any` and its families whose name has `family`."""
    from drawn import FAMILIES
    return [(row.file, row.kernel, row.arch) for chosen in FAMILIES if family in chosen.name for row in chosen.rows]


def kernels(parts, family=""):
    """(file, kernel, architecture) of everything that these parts launch, once each."""
    found = dict.fromkeys(drawn_kernels(family) if "any" in parts else ())
    for part in parts:
        if part == "launch":
            found.update(dict.fromkeys(LAUNCHED))
        rows = {"gemm": PRODUCTS, "ragged": PRODUCTS, "chains": CHAINS}.get(part, MEMORY)
        for row in rows:
            if isinstance(row, Chain):
                found.update(dict.fromkeys((*step, "sm_90") for step in row.steps))
            elif isinstance(row, Product) or row.part == part:
                found[row.file, row.kernel, row.arch] = None
    return list(found)
