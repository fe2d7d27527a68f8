#!/usr/bin/env python3
"""Times the zoo's kernels beside PyTorch on a GPU, interleaved in one process.

    tools/bench/bench.py INGOT OUTDIR

INGOT is the command, OUTDIR takes what is built. Needs PyTorch and a C compiler.
Everything is launched through the generated header and runtime/ingot.c.
"""

import ctypes
import os
import statistics
import subprocess
import sys

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INGOT, OUT = sys.argv[1], sys.argv[2]


def bridge(path, kernel, call, extra=()):
    """Builds one kernel file and returns its bridge, opened."""
    name = os.path.splitext(os.path.basename(path))[0]
    subprocess.run([INGOT, "build", path, "-o", OUT, "--arch", "sm_90", *extra], check=True)
    library = f"{OUT}/{name}.so"
    symbol = f"k_{name}" if name[0].isdigit() else name
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O2", f"-I{ROOT}/runtime", f"-I{OUT}",
         f'-DHEADER="{name}.h"', f"-DARTIFACT={symbol}_artifact",
         f"-DCALL={kernel}(module, stream, {call})",
         f"{ROOT}/tools/bench/bridge.c", f"{ROOT}/runtime/ingot.c",
         "-ldl", "-lpthread", "-o", library], check=True)
    lib = ctypes.CDLL(library)
    lib.bridge_time.restype = lib.bridge_time_bare.restype = ctypes.c_double
    if lib.bridge_open(f"{OUT}/{name}.fatbin".encode()):
        sys.exit(f"{name}: cannot load")
    return lib


def arrays(*tensors):
    return (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors])


def launcher(lib, n, *tensors):
    a = arrays(*tensors)

    def launch():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = lib.bridge_launch(stream, a, ctypes.c_int64(n))
        if status:
            sys.exit(f"launch failed with status {status}")
    return launch


def event_ms(work, times):
    """Milliseconds of one call of `work` among `times` in a row."""
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    for _ in range(times):
        work()
    b.record()
    b.synchronize()
    return a.elapsed_time(b) / times


def interleaved(works, rounds, times):
    """Per work: the milliseconds of each round, rounds interleaved."""
    for w in works:
        event_ms(w, 3)
    rows = [[] for _ in works]
    for r in range(rounds):
        order = list(range(len(works)))
        if r % 2:
            order.reverse()
        for i in order:
            rows[i].append(event_ms(works[i], times))
    return rows


def graph(work, times):
    """A replay of `times` calls of `work` captured in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for _ in range(times):
            work()
    return g.replay


def vector_add():
    n = 1 << 28
    a, b = (torch.randn(n, device="cuda") for _ in range(2))
    ours, theirs = torch.full_like(a, float("nan")), torch.empty_like(a)
    lib = bridge(f"{ROOT}/tests/kernels/vadd.ing", "vadd", "n, a[0], a[1], a[2]")
    works = [launcher(lib, n, a, b, ours), lambda: torch.add(a, b, out=theirs)]
    rows = interleaved(works, 40, 10)
    assert torch.equal(ours, theirs), "vadd differs from torch.add"
    ratio = statistics.median(t / o for o, t in zip(*rows))
    for name, row in zip(("ingot vadd", "torch.add"), rows):
        ms = statistics.median(row)
        print(f"{name}: {ms:.4f} ms  {3 * 4 * n / ms / 1e6:.1f} GB/s "
              f"(min {min(row):.4f}, max {max(row):.4f})")
    print(f"vadd, 2^28 floats: speed against torch.add, median of paired ratios: {ratio:.4f}")


def depthwise():
    a = torch.randn(3, 4, 16, 32, device="cuda")
    w = torch.randn(4, 7, 7, device="cuda")
    d = torch.full_like(a, float("nan"))
    want = torch.nn.functional.conv2d(a.double(), w.double()[:, None], padding=3, groups=4)
    names, works = [], []
    for v in range(5):
        name = f"dwconv_v{v}"
        lib = bridge(f"{ROOT}/tests/kernels/{name}.ing", KERNEL_OF(name), "a[0], a[1], a[2]")
        work = launcher(lib, 0, a, w, d)
        d.fill_(float("nan"))
        work()
        error = (d.double() - want).abs().max().item()
        assert error < 1e-4, f"{name}: error {error}"
        names.append(name)
        works.append(work)
    lib = bridge(f"{ROOT}/tools/bench/empty.ing", "empty", "0, a[0]")
    names.append("empty kernel")
    works.append(launcher(lib, 1, d))
    w4 = w[:, None].contiguous()
    torch.backends.cudnn.benchmark = True
    names.append("PyTorch conv2d")
    works.append(lambda: torch.nn.functional.conv2d(a, w4, padding=3, groups=4))
    replays = [graph(work, 50) for work in works]
    rows = interleaved(replays, 21, 4)
    for name, row in zip(names, rows):
        print(f"{name}: {statistics.median(row) / 50 * 1000:.3f} us "
              f"(min {min(row) / 50 * 1000:.3f}, max {max(row) / 50 * 1000:.3f})")


def KERNEL_OF(name):
    """The kernel of a file of the zoo."""
    for line in open(f"{ROOT}/tests/kernels/{name}.ing"):
        if line.startswith("kernel "):
            return line.split()[1].split("(")[0]
    raise ValueError(name)


def launch_overhead():
    n = 1024
    a, b, c = (torch.randn(n, device="cuda") for _ in range(3))
    lib = bridge(f"{ROOT}/tests/kernels/vadd.ing", "vadd", "n, a[0], a[1], a[2]")
    cuda = ctypes.CDLL("libcuda.so.1")
    module, f = ctypes.c_void_p(), ctypes.c_void_p()
    image = open(f"{OUT}/vadd.fatbin", "rb").read()
    assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(f), module, b"vadd") == 0
    stream = ctypes.c_void_p(torch.cuda.Stream().cuda_stream)
    args = arrays(a, b, c)
    bare = ctypes.cast(cuda.cuLaunchKernel, ctypes.c_void_p)
    ours, base = [], []
    for _ in range(400):
        ours.append(lib.bridge_time(stream, args, ctypes.c_int64(n), 200))
        torch.cuda.synchronize()
        base.append(lib.bridge_time_bare(bare, f, stream, args, ctypes.c_int64(n), 1, 256, 200))
        torch.cuda.synchronize()
    extra = statistics.median(o - b for o, b in zip(ours, base))
    print(f"launch: {statistics.median(ours):.0f} ns through the header, "
          f"{statistics.median(base):.0f} ns bare cuLaunchKernel, {extra:.0f} ns above (paired)")


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    for part in (vector_add, depthwise, launch_overhead):
        try:
            part()
        except (Exception, SystemExit) as error:
            print(f"{part.__name__} failed: {error!r}")
