"""GEMMs: right first, then beside their peers."""

from functools import partial

import torch

import beside
import data
import peers
import timing
from artifact import Failure
from cases import PRODUCTS
from definitions import EPILOGUES
from report import median_ms
from session import settle


def case_name(product, size):
    text = f"{size}" if isinstance(size, int) else "x".join(map(str, size))
    return f"{product.kernel} {product.arch} {text}"


def extents(size):
    return dict(zip("MNK", (size,) * 3 if isinstance(size, int) else size))


def matrices(kernel, made):
    """The operands as M x K and K x N, whichever way they lie."""
    ways = {p["c_name"]: "".join(map(str, p["shape"])) for p in kernel.arrays}
    a, b = made.by_name["A"], made.by_name["B"]
    return a if ways["A"] == "MK" else a.t(), b if ways["B"] == "KN" else b.t()


def rival(name, kernel, made, finish):
    """A peer's function on one set of operands, with a result of its own."""
    out = data.poison(torch.empty_like(made.out))
    return peers.PEERS[name](*matrices(kernel, made), made.by_name.get("bias"), finish, out)


def launchers(kernel, sizes):
    """Sets of operands that no cache holds together, and our launches on each."""
    copies = [data.Operands(kernel, sizes)]
    copies += [data.Operands(kernel, sizes) for _ in range(timing.sets(copies[0].bytes) - 1)]
    return copies, [kernel.launcher(sizes, made.by_name) for made in copies]


def rivals(kernel, product, size, copies, report):
    """Per peer that is wanted and can be had: its calls on every set of operands."""
    works = {}
    for name in (p for p, wanted in product.peers.items() if size in wanted):
        try:
            work = [rival(name, kernel, made, product.finish) for made in copies]
            work[0]()
            torch.cuda.synchronize()
            works[name] = work
        except Exception as error:
            report.failure("gemm", f"{case_name(product, size)}, {name}", f"{type(error).__name__}: {error}")
    return works


def judge(kernel, product, made, works=()):
    """Errors of ours and of those peers that compute the same; a wrong result is a Failure."""
    same = [n for n in works if not product.finish or n in peers.FUSED]
    bias = made.by_name["bias"].double() if "bias" in made.by_name else None
    outs = [made.out, *(works[n][0]() for n in same)]
    found = data.product_errors(*matrices(kernel, made),
                                lambda acc: EPILOGUES[product.finish](acc, bias), outs)
    errors = {n: {"norm": e.norm(), "worst": e.worst()} for n, e in zip(("ingot", *same), found)}
    if not errors["ingot"]["norm"] <= product.limit:
        raise Failure(f"wrong: relative error {errors['ingot']['norm']:.3e}")
    if not torch.isfinite(made.out.float()).all():
        raise Failure("wrong: elements that are not numbers")
    if not made.intact():
        raise Failure("wrong: written outside of the result")
    return errors


def judging(product):
    """How a kernel and a set of operands of a product are judged."""
    return lambda kernel, made: judge(kernel, product, made)


def tell(session, product, size, form, rows, errors):
    """A row of the report: rates, and our speed over each peer's."""
    extent = extents(size)
    flop = 2 * extent["M"] * extent["N"] * extent["K"]
    ratios = {p: timing.ratio(rows, "ingot", p) for p in rows if p != "ingot"}
    rates = {n: flop / median_ms(rows, n) / 1e9 for n in rows}
    text = f"ingot {rates['ingot']:.1f} TFLOP/s (error {errors['ingot']['norm']:.2e})"
    for p, (middle, low, high) in ratios.items():
        off = f", error {errors[p]['norm']:.2e}" if p in errors else ""
        text += f"; {p} {rates[p]:.1f}, ratio {middle:.4f} ({low:.3f} to {high:.3f}){off}"
    session.report.row("gemm", f"{case_name(product, size)} {form}", text,
                       ratios={p: r[0] for p, r in ratios.items()}, ranges=ratios,
                       goals={p: product.peers.get(p, {}).get(size) for p in ratios},
                       tflops=rates, ms=rows, errors=errors)


def measure(product, size, session):
    """One product at one size."""
    sizes = extents(size)
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    copies, ours = launchers(kernel, sizes)
    ours[0]()
    settle()
    judge(kernel, product, copies[0])
    works = rivals(kernel, product, size, copies, session.report) if session.has_peers else {}
    errors = judge(kernel, product, copies[0], works)
    name = case_name(product, size)
    others = beside.variants(product, sizes, copies, judging(product), "gemm", name, session)
    works = {"ingot": ours, **works, **others}
    tell(session, product, size, "cool", timing.cool(works, session.rounds), errors)
    if min(sizes.values()) >= 4096:
        tell(session, product, size, "sustained", timing.sustained(works, session.rounds), errors)


def cases(part, given):
    for product in PRODUCTS:
        for size in product.sizes:
            yield case_name(product, size), partial(measure, product, size)
