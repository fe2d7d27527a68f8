"""Kernels that move bytes, beside a copy of as many and PyTorch's own."""

from functools import partial

import torch

import data
import timing
from artifact import Failure
from cases import MEMORY
from definitions import COUNTED, DEFINITIONS, FITTED
from report import median_ms
from session import settle


def copying(count):
    """A function that moves as many bytes, half of them read and half written."""
    source = torch.randn(count // 8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def operands(kernel, row, sizes):
    """Random operands that the definition takes."""
    made = data.Operands(kernel, sizes)
    if row.definition in FITTED:
        FITTED[row.definition](*made.inputs)
    return made


def wide(x):
    """The same numbers in double precision; integers are themselves."""
    return x.double() if x.is_floating_point() else x


def result_of(row, made):
    """The first result; as many of its elements as another one says, if it has room for more."""
    if row.definition not in COUNTED:
        return made.out
    count = made.by_name[COUNTED[row.definition]].item()
    if not 0 <= count <= len(made.out):
        raise Failure(f"wrong: {count} elements of at most {len(made.out)}")
    if not data.untouched(made.out[count:]):
        raise Failure(f"wrong: written behind {count} elements")
    return made.out[:count]


def error_of(row, made):
    """The error of a result that was just written; a wrong one is a Failure."""
    want, out = DEFINITIONS[row.definition](*map(wide, made.inputs)), result_of(row, made)
    if want.numel() != out.numel():
        raise Failure(f"wrong: {out.numel()} elements instead of {want.numel()}")
    error = data.errors(out, want.reshape(out.shape)).norm()
    if not error <= row.limit:
        raise Failure(f"wrong: relative error {error:.3e}")
    if not made.intact():
        raise Failure("wrong: written outside of the result")
    return error


def found_right(row, sizes, session):
    """The launch of a kernel whose result is right, its operands, and its error."""
    kernel = session.builder.kernel(row.file, row.kernel, row.arch)
    made = operands(kernel, row, sizes)
    launch = kernel.launcher(sizes, made.by_name)
    launch()
    settle()
    return launch, made, error_of(row, made)


def measure(row, sizes, case, session):
    launch, made, error = found_right(row, sizes, session)
    definition = DEFINITIONS[row.definition]
    works = {"ingot": [launch], "copy": [copying(made.bytes)], "torch": [lambda: definition(*made.inputs)]}
    rows = timing.cool(works, session.rounds)
    ratios = {p: timing.ratio(rows, "ingot", p)[0] for p in ("copy", "torch")}
    rates = {n: made.bytes / median_ms(rows, n) / 1e6 for n in works}
    session.report.row(row.part, case, ", ".join(f"{n} {rate:.0f} GB/s" for n, rate in rates.items())
                       + f"; of a copy {ratios['copy']:.4f}, of PyTorch {ratios['torch']:.4f} "
                       f"(error {error:.2e})", ratios=ratios, gbs=rates, ms=rows, error=error)


def cases(part, given):
    for row in (r for r in MEMORY if r.part == part):
        for sizes in row.sizes:
            name = f"{row.kernel} " + " x ".join(map(str, sizes.values()))
            yield name, partial(measure, row, sizes, name)
