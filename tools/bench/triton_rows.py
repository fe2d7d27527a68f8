"""Softmax and norms of rows in Triton: a block for each row, of the number of warps that is fastest."""

import torch

import timing

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

WARPS = (2, 4, 8, 16, 32)
# The elements of a row that a thread may have: more take minutes to compile, and spill.
MOST = 64

if triton:
    @triton.jit
    def softmax(n, y, x, BLOCK: tl.constexpr):
        column = tl.arange(0, BLOCK)
        start = tl.program_id(0).to(tl.int64) * n
        value = tl.load(x + start + column, mask=column < n, other=float("-inf")).to(tl.float32)
        power = tl.exp(value - tl.max(value, 0))
        tl.store(y + start + column, (power / tl.sum(power, 0)).to(y.dtype.element_ty), mask=column < n)

    @triton.jit
    def layer_norm(n, y, x, w, b, BLOCK: tl.constexpr):
        column = tl.arange(0, BLOCK)
        start = tl.program_id(0).to(tl.int64) * n
        value = tl.load(x + start + column, mask=column < n, other=0.0).to(tl.float32)
        weight = tl.load(w + column, mask=column < n, other=0.0).to(tl.float32)
        bias = tl.load(b + column, mask=column < n, other=0.0).to(tl.float32)
        off = tl.where(column < n, value - tl.sum(value, 0) / n, 0.0)
        result = off * tl.rsqrt(tl.sum(off * off, 0) / n + 1e-5) * weight + bias
        tl.store(y + start + column, result.to(y.dtype.element_ty), mask=column < n)

    @triton.jit
    def rms_norm(n, y, x, w, BLOCK: tl.constexpr):
        column = tl.arange(0, BLOCK)
        start = tl.program_id(0).to(tl.int64) * n
        value = tl.load(x + start + column, mask=column < n, other=0.0).to(tl.float32)
        weight = tl.load(w + column, mask=column < n, other=0.0).to(tl.float32)
        result = value * tl.rsqrt(tl.sum(value * value, 0) / n + 1e-5) * weight
        tl.store(y + start + column, result.to(y.dtype.element_ty), mask=column < n)

ROWS = ("softmax", "layer_norm", "rms_norm")


def launcher(kernel, inputs, warps):
    """A function that computes the rows of the first input, and returns them."""
    (m, n), out = inputs[0].shape, torch.empty_like(inputs[0])

    def launch():
        kernel[(m,)](n, out, *inputs, BLOCK=triton.next_power_of_2(n), num_warps=warps)
        return out
    return launch


def peer(name):
    """The peer of a definition (movers.py)."""
    def fastest(definition, sets):
        if not triton:
            raise RuntimeError("Triton is absent")
        kernel, block, ms = globals()[name], triton.next_power_of_2(sets[0][0].shape[1]), {}
        for warps in (w for w in WARPS if block <= 32 * w * MOST):
            work = [launcher(kernel, sets[0], warps)]
            timing.between_events(work, 1)
            ms[warps] = timing.between_events(work, 3)
        warps = min(ms, key=ms.get)
        return [launcher(kernel, inputs, warps) for inputs in sets]
    return fastest
