"""What the products are compared with: a row for each peer.

A peer takes the operands (a: M x K, b: K x N as views), the bias, the name of the epilogue
and a result of the right shape, and returns a function that computes into a tensor and
returns it.
"""

import contextlib
import io
import logging

import torch

import triton_matmul
from definitions import EPILOGUES

COMPILED = {}
logging.getLogger("torch._inductor").setLevel(logging.CRITICAL)


def cublas(a, b, bias, finish, out):
    """The bare product, without its epilogue."""
    return lambda: torch.mm(a, b, out=out)


def cublas_tf32(a, b, bias, finish, out):
    """The bare product of f32 operands that are rounded to TF32."""
    flags = torch.backends.cuda.matmul

    def call():
        flags.allow_tf32 = True
        torch.mm(a, b, out=out)
        flags.allow_tf32 = False
        return out
    return call


def cublaslt(a, b, bias, finish, out):
    """Product, bias and activation in one call of cuBLASLt."""
    narrow, gelu = bias.to(a.dtype), "gelu" in finish
    return lambda: torch._addmm_activation(narrow, a, b, use_gelu=gelu, out=out)


def compiled(a, b, bias, finish, out):
    """torch.compile of product and epilogue, tuned once for these shapes."""
    key = (finish, a.shape, b.shape, a.stride(), b.stride(), a.dtype)
    if key not in COMPILED:
        COMPILED.clear()
        torch.compiler.reset()
        COMPILED[key] = torch.compile(lambda x, y, z: EPILOGUES[finish](x @ y, z),
                                      mode="max-autotune-no-cudagraphs", dynamic=False)
    function, narrow = COMPILED[key], None if bias is None else bias.to(a.dtype)
    with contextlib.redirect_stderr(io.StringIO()):
        function(a, b, narrow)
    return lambda: function(a, b, narrow)


def scaled(a, b, bias, finish, out):
    """The product of 8-bit floating numbers with scales of one."""
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=out.dtype,
                                    use_fast_accum=True)


def integers(a, b, bias, finish, out):
    return lambda: torch._int_mm(a, b, out=out)


def along(x):
    """A matrix whose rows lie together at multiples of 16 elements: itself, or a copy with zeros behind."""
    missing = [-extent % 16 for extent in x.shape]
    if any(missing):
        return torch.nn.functional.pad(x, (0, missing[1], 0, missing[0]))
    return x if x.stride(1) == 1 else x.contiguous()


def copied(product):
    """A product that takes NT of multiples of 16 alone, of operands that are copied to lie so in every
    call, if they do not."""
    def peer(a, b, bias, finish, out):
        if out.shape[0] % 16 or out.shape[1] % 16:
            out = out.new_empty([-(-extent // 16) * 16 for extent in out.shape])
        return lambda: product(along(a), along(b.t()).t(), bias, finish, out)()
    return peer


def triton(a, b, bias, finish, out):
    """The bare product by the best of the tiles published with Triton."""
    return triton_matmul.best(a, b, out)


def triton_sm80(a, b, bias, finish, out):
    """The same with the instructions of sm_80: mma.sync and cp.async."""
    return triton_matmul.best(a, b, out, "sm80")


PEERS = {f.__name__: f for f in (cublas, cublas_tf32, cublaslt, compiled, scaled, integers, triton, triton_sm80)}
PEERS |= {"scaled_copied": copied(scaled), "integers_copied": copied(integers)}
# Those that compute the epilogue, too.
FUSED = ("cublaslt", "compiled")
