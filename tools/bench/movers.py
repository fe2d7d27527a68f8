"""What kernels that move bytes are compared with, beside a copy: a row for each peer.

A peer takes a definition in PyTorch and sets of operands, and returns a function for each set that computes it.
"""

from functools import partial

import torch

import triton_rows
from definitions import DEFINITIONS


def eager(definition, sets):
    return [partial(definition, *inputs) for inputs in sets]


def compiled(definition, sets):
    """torch.compile for these shapes alone: kernels that Triton compiles."""
    torch.compiler.reset()
    return eager(torch.compile(definition, dynamic=False), sets)


def cudnn(definition, sets):
    """The convolution of each channel by the fastest of cuDNN's algorithms, in the precision of its type."""
    def call(x, w):
        padding = [w.shape[1] // 2, w.shape[2] // 2]
        return torch.cudnn_convolution(x, w[:, None], padding, [1, 1], [1, 1], w.shape[0], True, False, False)
    return eager(call, sets)


def histc(definition, sets):
    """PyTorch's other histogram, which does not look for the greatest element first."""
    return [partial(torch.histc, x, 256, 0, 256) for x, in sets]


def cub(call):
    """A function of CuPy's module and of arrays of CuPy, which calls CUB."""
    def peer(definition, sets):
        import cupy
        stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

        def launch(views):
            with stream:
                return call(cupy, *views)
        return [partial(launch, [cupy.from_dlpack(x) for x in inputs]) for inputs in sets]
    return peer


def cub_scan(definition, sets):
    """CUB's scan in place, each time of what the last one left: CuPy's cumsum copies first."""
    def call(cupy, x):
        return cupy.cuda.cub.device_scan(x, cupy.cuda.cub.CUPY_CUB_CUMSUM)
    return cub(call)(definition, [[x.clone() for x in inputs] for inputs in sets])


USUAL = {"eager": eager, "compiled": compiled}

# The peers of a definition, if they are not the usual ones.
PEERS = {
    **{name: {**USUAL, "triton": triton_rows.peer(name)} for name in triton_rows.ROWS},
    "total": {**USUAL, "cub": cub(lambda cupy, x: cupy.sum(x))},
    "prefix_sum": {**USUAL, "cub": cub_scan},
    "segment_prefix_sum": {},
    "kept": {"eager": eager, "cupy": cub(lambda cupy, x: x[x > 0])},
    "histogram": {"eager": eager, "histc": histc, "cub": cub(lambda cupy, x: cupy.histogram(x, 256, (0, 256))[0])},
    "depthwise": {**USUAL, "cudnn": cudnn},
    "linear": {"cublas": eager},
    **{name: {"sdpa": eager} for name in ("attention", "causal")},
    **{name: {"cudnn": eager} for name in ("conv_nhwc", "conv_nchw", "conv_same")},
    **{name: {"cublas": eager} for name in DEFINITIONS if name.startswith("batched_")},
}


def peers(definition):
    """Per name of what a definition is compared with, the peer."""
    return PEERS.get(definition, USUAL)
