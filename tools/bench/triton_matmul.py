"""GEMMs in Triton, as its tutorials do them: the best of a list of tiles."""

from concurrent.futures import ThreadPoolExecutor

import torch

try:
    import triton
    import triton.language as tl
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    triton = None

# BLOCK_M, BLOCK_N, BLOCK_K, GROUP, stages, warps: the tiles published with Triton's tutorials
# on matrix products, by the bytes of an operand's element.
TILES = {
    2: ((128, 256, 64, 8, 3, 8), (128, 256, 64, 8, 4, 8), (256, 128, 64, 8, 3, 8),
        (128, 128, 64, 8, 4, 8), (128, 128, 64, 8, 3, 4), (64, 256, 32, 8, 4, 4),
        (128, 128, 32, 8, 4, 4), (128, 64, 32, 8, 4, 4)),
    1: ((128, 256, 128, 8, 3, 8), (256, 128, 128, 8, 3, 8), (256, 64, 128, 8, 4, 4),
        (64, 256, 128, 8, 4, 4), (128, 128, 128, 8, 4, 4), (128, 64, 64, 8, 4, 4)),
    4: ((128, 128, 32, 8, 4, 8), (128, 256, 32, 8, 3, 8), (128, 64, 32, 8, 4, 4)),
}
TILES_BY_DESCRIPTOR = {
    2: ((128, 256, 64, 8, 3, 8), (128, 256, 64, 8, 4, 8), (128, 128, 64, 8, 4, 8)),
    1: ((128, 256, 128, 8, 3, 8), (128, 128, 128, 8, 4, 8)),
    4: (),
}
COMPILERS = 12
KEPT = {}

if triton:
    @triton.jit
    def tile_of(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
        block = tl.program_id(0)
        across = tl.cdiv(N, BLOCK_N)
        first = block // (GROUP * across) * GROUP
        height = min(tl.cdiv(M, BLOCK_M) - first, GROUP)
        row = first + block % (GROUP * across) % height
        return row, block % (GROUP * across) // height

    @triton.jit
    def store(c, total, row, column, M, N, cm, cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
        m = row * BLOCK_M + tl.arange(0, BLOCK_M)
        n = column * BLOCK_N + tl.arange(0, BLOCK_N)
        place = c + m[:, None].to(tl.int64) * cm + n[None, :].to(tl.int64) * cn
        tl.store(place, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))

    @triton.jit
    def by_pointers(a, b, c, M, N, K, am, ak, bk, bn, cm, cn,
                    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                    GROUP: tl.constexpr, SUM: tl.constexpr):
        row, column = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
        m = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        n = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        k = tl.arange(0, BLOCK_K)
        left = a + m[:, None].to(tl.int64) * am + k[None, :] * ak
        right = b + k[:, None] * bk + n[None, :].to(tl.int64) * bn
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
        for i in range(0, tl.cdiv(K, BLOCK_K)):
            x = tl.load(left, mask=k[None, :] < K - i * BLOCK_K, other=0.0)
            y = tl.load(right, mask=k[:, None] < K - i * BLOCK_K, other=0.0)
            total = tl.dot(x, y, total, out_dtype=SUM)
            left += BLOCK_K * ak
            right += BLOCK_K * bk
        store(c, total, row, column, M, N, cm, cn, BLOCK_M, BLOCK_N)

    @triton.jit
    def by_descriptors(a, b, c, M, N, K, cm, cn, A_TURNED: tl.constexpr, B_TURNED: tl.constexpr,
                       BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                       GROUP: tl.constexpr, SUM: tl.constexpr):
        row, column = tile_of(M, N, BLOCK_M, BLOCK_N, GROUP)
        m = row * BLOCK_M
        n = column * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
        for k in range(0, K, BLOCK_K):
            if A_TURNED:
                x = a.load([k, m]).T
            else:
                x = a.load([m, k])
            if B_TURNED:
                y = b.load([n, k]).T
            else:
                y = b.load([k, n])
            total = tl.dot(x, y, total, out_dtype=SUM)
        store(c, total, row, column, M, N, cm, cn, BLOCK_M, BLOCK_N)


def described(matrix, rows, columns):
    """A descriptor of blocks of a matrix as it lies in memory, and whether that is turned."""
    turned = matrix.stride(1) != 1
    matrix = matrix.t() if turned else matrix
    return TensorDescriptor.from_tensor(matrix, [columns, rows] if turned else [rows, columns]), turned


def prepared(form, a, b, out, tile, arch):
    """The kernel, its arguments and its grid for out = a @ b by blocks of one tile; `arch`: by the
    instructions of that architecture, assembled for the device."""
    (M, K), N = a.shape, b.shape[1]
    bm, bn, bk, group, stages, warps = tile
    options = {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP": group,
               "SUM": tl.float32 if out.dtype.is_floating_point else tl.int32,
               "num_stages": stages, "num_warps": warps, **({"arch": arch} if arch else {})}
    grid = (triton.cdiv(M, bm) * triton.cdiv(N, bn),)
    if form == "pointers":
        return by_pointers, (a, b, out, M, N, K, *a.stride(), *b.stride(), *out.stride()), options, grid
    (left, a_turned), (right, b_turned) = described(a, bm, bk), described(b, bk, bn)
    options.update(A_TURNED=a_turned, B_TURNED=b_turned)
    return by_descriptors, (left, right, out, M, N, K, *out.stride()), options, grid


def launcher(form, a, b, out, tile, arch):
    kernel, arguments, options, grid = prepared(form, a, b, out, tile, arch)

    def launch():
        kernel[grid](*arguments, **options)
        return out
    return launch


def has_descriptors(*matrices):
    """Whether rows of all, or columns where these lie together, begin at multiples of 16 bytes."""
    return all(max(x.stride()) * x.element_size() % 16 == 0 for x in matrices)


def check_instructions(form, a, b, out, tile, arch):
    """Raises an error unless a kernel for an older architecture is without Hopper's products."""
    kernel, arguments, options, grid = prepared(form, a, b, out, tile, arch)
    text = kernel[grid](*arguments, **options).asm["ptx"]
    if "wgmma" in text or "mma.sync" not in text:
        raise RuntimeError(f"Triton did not compile for {arch}")


def compile_all(choices, a, b, out, arch):
    """Compiles for all tiles at the same time; those that fail do so again when launched."""
    with ThreadPoolExecutor(COMPILERS) as pool, triton.AsyncCompileMode(pool, ignore_errors=True):
        for form, tile in choices:
            kernel, arguments, options, grid = prepared(form, a, b, out, tile, arch)
            kernel.warmup(*arguments, grid=grid, **options)


def tried(form, a, b, out, tile, arch):
    """Milliseconds of some launches with this tile; infinite if it cannot be built."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    try:
        launch = launcher(form, a, b, out, tile, arch)
        launch()
        launch()
        start.record()
        for _ in range(5):
            launch()
        end.record()
        end.synchronize()
    except Exception:
        return float("inf")
    return start.elapsed_time(end)


def best(a, b, out, arch=None):
    """The launcher of the fastest form and tile for these shapes, found once; with `arch`, as
    "sm80", of those by pointers with the instructions of that architecture."""
    if not triton:
        raise RuntimeError("Triton is absent")
    key = (a.shape, b.shape, a.stride(), b.stride(), a.dtype, out.dtype, arch)
    if key not in KEPT:
        size = a.element_size()
        choices = [("pointers", t) for t in TILES[size]]
        if not arch and has_descriptors(a, b):
            choices += [("descriptors", t) for t in TILES_BY_DESCRIPTOR[size]]
        compile_all(choices, a, b, out, arch)
        times = {c: tried(c[0], a, b, out, c[1], arch) for c in choices}
        fastest = min(times, key=times.get)
        if times[fastest] == float("inf"):
            raise RuntimeError("no tile can be built")
        if arch:
            check_instructions(fastest[0], a, b, out, fastest[1], arch)
        KEPT[key] = fastest
    form, tile = KEPT[key]
    return launcher(form, a, b, out, tile, arch)
