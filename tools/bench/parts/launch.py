"""What a launch costs: on the host beside a bare cuLaunchKernel, on the device when empty."""

import ctypes
import statistics

import torch

import data
import timing
from artifact import EMPTY
from report import median_ms

ROUNDS, TIMES = 400, 200
REPLAYED = 50


def bare_function(fatbin, name):
    """The address of cuLaunchKernel, and a kernel's function for it."""
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    image = open(fatbin, "rb").read()
    assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, name) == 0
    return ctypes.cast(cuda.cuLaunchKernel, ctypes.c_void_p), function


def on_the_host(session):
    """Nanoseconds through the generated header and without it, in turns."""
    kernel = session.builder.kernel("vadd", "vadd", "sm_90")
    made = data.Operands(kernel, {"n": 1024})
    numbers, arrays = kernel.numbers({"n": 1024}), kernel.addresses(made.by_name)
    stream = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
    launch, function = bare_function(kernel.fatbin, b"vadd")
    ours, bare = [], []
    for _ in range(ROUNDS):
        ours.append(kernel.bridge.bridge_time(stream, numbers, arrays, TIMES))
        torch.cuda.synchronize()
        bare.append(kernel.bridge.bridge_time_bare(launch, function, stream, ctypes.c_int64(1024),
                                                    arrays, 1, 256, TIMES))
        torch.cuda.synchronize()
    above = statistics.median(o - b for o, b in zip(ours, bare))
    ns = {"header": statistics.median(ours), "bare": statistics.median(bare), "above": above}
    session.report.row("launch", "launch, host",
                       f"{ns['header']:.0f} ns through the header, {ns['bare']:.0f} ns bare, "
                       f"{above:.0f} ns above (paired)", ns=ns)


def on_the_device(session):
    """Microseconds of a kernel that does nothing, replayed from a graph."""
    kernel = session.builder.kernel(EMPTY, "empty", "sm_90")
    go, array = kernel.sizes[0], kernel.arrays[0]["c_name"]
    launch = kernel.launcher({go: 0}, {array: torch.zeros(1, device="cuda")})
    rows = timing.sustained({"empty": timing.graph([launch], REPLAYED)}, session.rounds, seconds=0.02)
    us = median_ms(rows, "empty") * 1000 / REPLAYED
    session.report.row("launch", "launch, device", f"{us:.3f} us for an empty kernel", us=us)


def cases(part, given):
    yield "launch, host", on_the_host
    yield "launch, device", on_the_device
