#!/usr/bin/env python3
"""Times the scheduled kernels of the zoo beside cuBLAS and plain copies on a GPU.

    tools/bench/schedules.py INGOT OUTDIR [PART...]

Every kernel is first compared with PyTorch in double precision, on random data into
poisoned results. Rounds are interleaved in one process; ratios are medians of pairs.
"""

import itertools
import os
import statistics
import subprocess
import sys

import torch

import bench
from bench import ROOT, bridge, graph, interleaved, launcher

KERNELS = f"{ROOT}/tests/kernels"
BUILDS = itertools.count()


def built(path, kernel, call):
    """Opens a kernel; its workspace, if it has one, is the array behind the others."""
    bench.OUT = f"{sys.argv[2]}/{next(BUILDS)}"  # a library is opened once by its path
    os.makedirs(bench.OUT, exist_ok=True)
    source = f"{KERNELS}/{path}.ing"
    subprocess.run([bench.INGOT, "build", source, "-o", bench.OUT, "--arch", "sm_90"], check=True)
    header = open(f"{bench.OUT}/{os.path.basename(path)}.h").read()
    if f"{kernel}_workspace(" in header:
        call += f", a[{call.count('a[')}]"
    return bridge(source, kernel, call)


def relative_error(ours, want):
    want = want.double()
    return ((ours.double() - want).abs().max() / want.abs().max().clamp(min=1e-30)).item()


def checked(name, launch, result, want, limit):
    result.fill_(float("nan"))
    launch()
    error = relative_error(result, want)
    assert error < limit, f"{name}: relative error {error}"
    return error


def median_ratio(base, row):
    return statistics.median(b / r for b, r in zip(base, row))


def product():
    """sgemm against torch.mm with TF32 off."""
    torch.backends.cuda.matmul.allow_tf32 = False
    lib = built("sgemm", "sgemm", "n, n, n, a[0], a[1], a[2]")
    for n in (1024, 2048, 4096, 8192):
        a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
        ours, theirs = torch.empty_like(a), torch.empty_like(a)
        work = launcher(lib, n, a, b, ours)
        want = a.double() @ b.double()
        error = checked("sgemm", work, ours, want, 1e-5)
        torch.mm(a, b, out=theirs)
        other = relative_error(theirs, want)
        del want
        rows = interleaved([lambda: torch.mm(a, b, out=theirs), work], 15, max(2, 20480 // n))
        ms = [statistics.median(r) for r in rows]
        print(f"product {n}: cuBLAS {2 * n**3 / ms[0] / 1e9:.2f} ingot {2 * n**3 / ms[1] / 1e9:.2f} "
              f"TFLOP/s, ratio {median_ratio(*rows):.4f} (errors {other:.2e} {error:.2e})")


def bandwidth(name, work, count, floats=1 << 28):
    """Prints the bandwidth of `work`, which moves `count` bytes, beside that of a copy."""
    a = torch.randn(floats, device="cuda")
    b = torch.empty_like(a)
    copy_bytes = 2 * 4 * floats
    rows = interleaved([lambda: b.copy_(a), work], 15, 10)
    ms = [statistics.median(r) for r in rows]
    share = statistics.median((count / w) / (copy_bytes / c) for c, w in zip(*rows))
    print(f"{name}: {count / ms[1] / 1e6:.0f} GB/s, copy {copy_bytes / ms[0] / 1e6:.0f} GB/s, "
          f"share {share:.3f}")


def rows():
    """Softmax, norms and sums by schedule: bytes over time against a copy."""
    for n in (1024, 4096, 32768):
        m = (1 << 28) // n
        x = torch.randn(m, n, device="cuda")
        y = torch.empty_like(x)
        work = launcher(built("softmax_rows", f"softmax_{n}", "n, a[0], a[1]"), m, x, y)
        checked("softmax", work, y, torch.softmax(x.double(), 1), 1e-5)
        bandwidth(f"softmax {m} x {n}", work, 2 * x.nbytes)
    m = 1 << 13
    x = torch.randn(m, 32768, device="cuda")
    y = torch.empty_like(x)
    work = launcher(built("softmax_long", "softmax_long", "n, a[0], a[1]"), m, x, y)
    checked("softmax_long", work, y, torch.softmax(x.double(), 1), 1e-5)
    bandwidth(f"softmax_long {m} x 32768", work, 2 * x.nbytes)
    for n in (4096, 32768):
        m = (1 << 28) // n
        x = torch.randn(m, n, device="cuda")
        y, spare = torch.empty_like(x), torch.empty(1 << 24, device="cuda")
        lib = built("softmax_online", "softmax_online", f"{m}, {n}, a[0], a[1]")
        work = launcher(lib, 0, x, y, spare)
        checked("softmax_online", work, y, torch.softmax(x.double(), 1), 1e-5)
        bandwidth(f"softmax_online {m} x {n}", work, 2 * x.nbytes)
    m, n = 1 << 16, 4096
    x = torch.randn(m, n, device="cuda")
    y = torch.empty_like(x)
    w = torch.randn(n, device="cuda")
    work = launcher(built("norms", "rms_norm", "n, a[0], a[1], a[2]"), m, x, w, y)
    bandwidth(f"rms_norm {m} x {n}", work, 2 * x.nbytes)
    for kernel in ("row_sum_block", "row_sum_warp", "col_sum_block", "col_sum_parts", "sum_all"):
        for m, n in ((16384, 16384), (1 << 18, 1024)):
            x = torch.randn(m, n, device="cuda")
            axis = {"row": 1, "col": 0, "sum": None}[kernel[:3]]
            want = x.double().sum() if axis is None else x.double().sum(axis)
            s = torch.empty(want.numel(), device="cuda")
            lib = built("row_sum_by_schedule", kernel, f"{m}, {n}, a[0], a[1]")
            spare = torch.empty(1 << 24, device="cuda")
            work = launcher(lib, 0, x, s, spare)
            checked(kernel, work, s, want.reshape(-1), 1e-4)
            bandwidth(f"{kernel} {m} x {n}", work, x.nbytes)


def transposition():
    """A tile of 32 x 33 floats in shared memory against a copy."""
    for m, n in ((8192, 8192), (16384, 16384), (8191, 4097)):
        x = torch.randn(m, n, device="cuda")
        y = torch.empty(n, m, device="cuda")
        lib = built("transpose_tile", "transpose_tile", f"{m}, {n}, a[0], a[1]")
        work = launcher(lib, 0, x, y)
        checked("transpose", work, y, x.t(), 1e-30)
        bandwidth(f"transpose {m} x {n}", work, 2 * x.nbytes)


def chain(title, names, call, want, limit, *inputs):
    """Prints the times of a chain of kernels, interleaved."""
    works = []
    result = torch.empty(want.shape, dtype=inputs[0].dtype, device="cuda")
    if result.dtype == torch.float16:
        result = result.float()
    for path, kernel in names:
        work = launcher(built(path, kernel, call), 0, *inputs, result)
        checked(kernel, work, result, want, limit)
        works.append(work)
    small = want.numel() < 100000
    replays = [graph(w, 50) for w in works] if small else works
    times = interleaved(replays, 11, 4)
    for (_, kernel), row in zip(names, times):
        us = statistics.median(row) * 1000 / (50 if small else 1)
        print(f"{title} {kernel}: {us:.2f} us, {median_ratio(times[0], row):.2f} of the first")


def chains():
    """The chains of the seeds: each step beside the one before it."""
    n = 1024
    a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
    chain("000", [("seeds/000_matmul_1024", f"{v}_1024") for v in ("naive", "blocking", "shared")],
          "a[0], a[1], a[2]", a.double() @ b.double(), 1e-5, a, b)
    chain("000", [(f"seeds/000_matmul_{v}", f"matmul_{v}") for v in ("naive", "blocking", "shared")],
          f"{n}, {n}, {n}, a[0], a[1], a[2]", a.double() @ b.double(), 1e-5, a, b)
    h, g = (torch.randn(n, n, device="cuda").half() for _ in range(2))
    chain("002", [(f"seeds/002_hgemm_{v}", f"hgemm_{v}") for v in ("naive", "blocked", "local", "tile")],
          f"{n}, {n}, {n}, a[0], a[1], a[2]", g.double().t() @ h.double(), 1e-5, h, g)
    for kind, name in ((torch.float32, "f32"), (torch.float64, "f64")):
        a = torch.randn(6000, 4800, device="cuda", dtype=kind)
        b = torch.randn(4800, 4000, device="cuda", dtype=kind)
        chain("003", [(f"seeds/003_matmul_{v}_{name}", f"matmul_{v}_{name}") for v in ("naive", "shared")],
              "6000, 4800, 4000, a[0], a[1], a[2]", a.double() @ b.double(), 1e-4, a, b)
    a, w = torch.randn(3, 4, 16, 32, device="cuda"), torch.randn(4, 7, 7, device="cuda")
    want = torch.nn.functional.conv2d(a.double(), w.double()[:, None], padding=3, groups=4)
    for form in ("plain", "shared", "local", "unrolled"):
        chain("004", [(f"seeds/004_dwconv_v{v}_{form}", f"dwconv_v{v}_{form}") for v in range(5)],
              "a[0], a[1], a[2]", want, 1e-4, a, w)


if __name__ == "__main__":
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    parts = {f.__name__: f for f in (product, rows, transposition, chains)}
    for name in sys.argv[3:] or parts:
        try:
            parts[name]()
        except (Exception, SystemExit) as error:
            print(f"{name} failed: {error!r}")
