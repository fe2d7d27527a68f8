#!/usr/bin/env python3
"""The part `any` of tools/bench without a GPU: one small case of every kernel of every family.

    tests/ci/bench_cpu.py INGOT OUTDIR [FAMILY]

PyTorch computes on the CPU. What a launch computes is the definition in the kernel's text, as `ingot run` compiles it
with cc; so cases fail if definitions.py means something else. Peers are PyTorch's, `torch.compile` without its back
end, Triton's interpreter, and stand-ins for cuDNN and CuPy. Needs PyTorch; matrices of f8, which it does not index
on the CPU, are left out.
"""

import contextlib
import ctypes
import functools
import json
import math
import os
import subprocess
import sys
import time
import types

sys.dont_write_bytecode = True
sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../../tools/bench")
os.environ["TRITON_INTERPRET"] = "1"

import torch  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

import artifact  # noqa: E402
import drawn  # noqa: E402
import timing  # noqa: E402
import triton_matmul  # noqa: E402
import triton_rows  # noqa: E402
from cases import Product  # noqa: E402
from parts import any as drawn_part  # noqa: E402
from session import Session  # noqa: E402

# Sizes whose rows are aligned, and others; `d` is of gathers, whose matrix has `m` rows.
SIZES = ({"M": 32, "N": 16, "K": 48, "S": 3, "m": 5, "n": 72, "d": 16, "B": 2, "C": 3, "H": 9, "W": 12,
          "a": 4, "b": 16, "c": 24},
         {"M": 17, "N": 9, "K": 21, "S": 2, "m": 3, "n": 33, "d": 7, "B": 1, "C": 5, "H": 11, "W": 1,
          "a": 3, "b": 5, "c": 7})

# Peers that cannot be had on the CPU: PyTorch counts no integers by histc, and takes no means in f32 of halves;
# Triton's interpreter multiplies bf16 as integers.
EXCUSED = {"histc": "histogram", "triton": "gemm_bf16", "eager": "layer_norm_grad", "compiled": "layer_norm_grad"}

# A compiler that keeps the last program that it was given on its standard input.
COMPILER = """#!/bin/sh
case " $* " in
*" - "*) tee "{kept}" | exec /usr/bin/cc "$@" ;;
*) exec /usr/bin/cc "$@" ;;
esac
"""


class OnCpu(TorchFunctionMode):
    """What is wanted on the GPU is on the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("device") == "cuda":
            kwargs["device"] = "cpu"
        return function(*args, **kwargs)


class Event:
    def __init__(self, enable_timing=False):
        self.at = 0

    def record(self):
        self.at = time.perf_counter()

    def elapsed_time(self, end):
        return max(1e-4, (end.at - self.at) * 1000)

    def synchronize(self):
        pass

    def query(self):
        return True


def cumulated(x, operation):
    assert operation == "cumsum" and x.is_contiguous()
    return x.copy_(x.cumsum(0))


def counted(x, count, span):
    assert span == (0, count)
    return torch.bincount(x, minlength=count), None


def stand_ins():
    """What the machine lacks, by what PyTorch has on the CPU."""
    torch.cuda.Event, torch.cuda._sleep, torch.cuda.synchronize = Event, lambda cycles: None, lambda: None
    torch.cuda.current_stream = lambda: types.SimpleNamespace(cuda_stream=0)
    torch.compile = functools.partial(torch.compile, backend="eager")
    convolution = torch.nn.functional.conv2d
    torch.cudnn_convolution = lambda x, w, padding, stride, dilation, groups, benchmark, deterministic, tf32: (
        convolution(x, w, None, stride, padding, dilation, groups))
    cub = types.SimpleNamespace(device_scan=cumulated, CUPY_CUB_CUMSUM="cumsum")
    cuda = types.SimpleNamespace(ExternalStream=lambda stream: contextlib.nullcontext(), cub=cub)
    sys.modules["cupy"] = types.SimpleNamespace(cuda=cuda, from_dlpack=lambda x: x, sum=torch.sum, histogram=counted)
    triton_matmul.compile_all = lambda *given: None
    tiles = {size: ((16, 32, 32, 2, 1, 1),) for size in (1, 2, 4)}
    triton_matmul.TILES, triton_matmul.TILES_BY_DESCRIPTOR = tiles, {**tiles, 4: ()}
    triton_rows.WARPS = (4,)


class Kernel(artifact.Kernel):
    """A kernel whose launch computes its definition."""

    def launcher(self, sizes, tensors):
        numbers = {name: ctypes.c_int64(sizes[name]) for name in self.sizes}
        places = [ctypes.addressof(numbers[name]) if name in numbers else tensors[name].data_ptr()
                  for name in self.order]
        given = (ctypes.c_void_p * len(places))(*places)

        def launch():
            self.bridge.ingot_reference(given)
        launch.keeps = numbers, tensors
        return launch


class Builder:
    """Gives such kernels."""

    def __init__(self, ingot, out):
        self.ingot, self.out, self.found = ingot, out, {}
        self.kept = f"{out}/kept.c"
        os.makedirs(f"{out}/bin", exist_ok=True)
        with open(f"{out}/bin/cc", "w") as file:
            file.write(COMPILER.format(kept=self.kept))
        os.chmod(f"{out}/bin/cc", 0o755)

    def text(self, file):
        """The text of a kernel file, absolute or of the zoo."""
        return os.path.join(artifact.KERNELS, f"{file}.ing")

    def manifest(self, file):
        stem = os.path.basename(file)
        path = f"{self.out}/{stem}/{stem}.json"
        if not os.path.exists(path):
            artifact.command(self.ingot, "build", self.text(file), "-o", os.path.dirname(path), "--arch", "none",
                             "--no-schedule")
        with open(path) as text:
            return json.load(text)

    def kernel(self, file, name, arch):
        if name not in self.found:
            entry = next(k for k in self.manifest(file)["kernels"] if k["name"] == name)
            library = f"{self.out}/{name}.so"
            sizes = [f"--size={p['name']}={SIZES[1][p['name']]}" for p in artifact.parameters(entry)[0]]
            subprocess.run([self.ingot, "run", self.text(file), f"--kernel={name}", "--device=cpu",
                            "--no-timing", "--no-schedule", "--reference=host", *sizes], check=True,
                           stdout=subprocess.DEVNULL,
                           env={**os.environ, "PATH": f"{self.out}/bin:{os.environ['PATH']}"})
            artifact.command("/usr/bin/cc", "-O1", "-w", "-fPIC", "-shared", self.kept, "-o", library, "-lm")
            kernel = Kernel(ctypes.CDLL(library), entry, None)
            kernel.order = [p["c_name"] for p in entry["parameters"]]
            self.found[name] = kernel
        return self.found[name]


class Report:
    def __init__(self):
        self.rows = []

    def row(self, part, case, text, **values):
        self.rows.append({"case": case, **values})
        print(f"{values['family']}: {case}: {text}", flush=True)


def check(result, row, peers, place):
    """Every peer has a speed, or is excused with a reason, and torch.compile has neither beyond the first cases."""
    speeds, absent = set(result["speeds"]) - {"copy", "best"}, set(result["absent"])
    assert speeds | absent == set(peers) and not speeds & absent, result
    assert all(EXCUSED.get(name, "no kernel") in row.kernel for name in absent), result
    assert place < drawn.COMPILED or "compiled" not in peers, result
    assert isinstance(row, Product) or "copy" in result["speeds"], result
    assert all(math.isfinite(speed) and speed > 0 for speed in result["speeds"].values()), result


def main(ingot, out, only=""):
    stand_ins()
    timing.sets = lambda count: 2
    work = Session(Builder(ingot, out), Report(), 1, [], {}, True)
    for family in (f for f in drawn.FAMILIES if only in f.name):
        names = next(iter(drawn.cases(1, 1, family.name)))[2]
        for row in (r for r in family.rows if "e4m3" not in r.kernel):
            for known in SIZES:
                sizes = {name: known[name] for name in names}
                place = 0 if known is SIZES[0] else drawn.COMPILED
                drawn_part.measure(family, row, sizes, place, f"{row.kernel} {sizes}", work)
                check(work.report.rows[-1], row, drawn_part.peers_of(row, place), place)
    for line in drawn.summary(work.report.rows):
        print(line)


if __name__ == "__main__":
    with OnCpu():
        main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), *sys.argv[3:])
