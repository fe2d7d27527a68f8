"""What kernels that move bytes are compared with, beside a copy: a row for each peer.

A peer takes a definition in PyTorch and its operands, and returns a function that computes it.
"""

from functools import partial

import torch


def eager(definition, inputs):
    return lambda: definition(*inputs)


def compiled(definition, inputs):
    """torch.compile for these shapes alone: kernels that Triton compiles."""
    torch.compiler.reset()
    function = torch.compile(definition, dynamic=False)
    return lambda: function(*inputs)


def cub(function, definition, inputs):
    """CuPy's function of a name, which calls CUB."""
    import cupy
    views, call = [cupy.from_dlpack(x) for x in inputs], getattr(cupy, function)
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def launch():
        with stream:
            return call(*views)
    return launch


# What CuPy computes by CUB: definitions, and the function's name.
CUB = {"total": "sum", "scan": "cumsum"}


def peers(definition):
    """(name, peer) of everything that a definition is compared with."""
    yield from (("eager", eager), ("compiled", compiled))
    if definition in CUB:
        yield "cub", partial(cub, CUB[definition])
