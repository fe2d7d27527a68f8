"""What the products are compared with: a row for each peer.

A peer takes the operands (a: M x K, b: K x N as views), the bias, the name of the epilogue
and a result of the right shape, and returns a function that computes into a tensor and
returns it.
"""

import torch

import triton_matmul
from definitions import EPILOGUES


def cublas(a, b, bias, finish, out):
    """The bare product, without its epilogue."""
    return lambda: torch.mm(a, b, out=out)


def cublaslt(a, b, bias, finish, out):
    """Product, bias and activation in one call of cuBLASLt."""
    narrow, gelu = bias.to(a.dtype), "gelu" in finish
    return lambda: torch._addmm_activation(narrow, a, b, use_gelu=gelu, out=out)


def compiled(a, b, bias, finish, out):
    """torch.compile of product and epilogue, tuned."""
    narrow = None if bias is None else bias.to(a.dtype)
    function = torch.compile(lambda x, y: EPILOGUES[finish](x @ y, narrow),
                             mode="max-autotune-no-cudagraphs", dynamic=False)
    function(a, b)
    return lambda: function(a, b)


def scaled(a, b, bias, finish, out):
    """The product of 8-bit floating numbers with scales of one."""
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=out.dtype,
                                    use_fast_accum=True)


def integers(a, b, bias, finish, out):
    return lambda: torch._int_mm(a, b, out=out)


def triton(a, b, bias, finish, out):
    """The bare product by the best of the tiles published with Triton."""
    return triton_matmul.best(a, b, out)


PEERS = {f.__name__: f for f in (cublas, cublaslt, compiled, scaled, integers, triton)}
# Those that compute the epilogue, too.
FUSED = ("cublaslt", "compiled")
