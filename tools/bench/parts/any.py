"""Kernels at sizes drawn from a seed: each case is found right, then timed beside its peers."""

from functools import partial

import torch

import drawn
import timing
from cases import Product
from parts import gemm, memory
from report import median_ms
from session import settle


def peers_of(kernel, product, copies):
    """Per peer that can multiply these operands: its calls on every set of them."""
    works = {}
    for name in product.peers:
        try:
            work = [gemm.rival(name, kernel, made, product.finish) for made in copies]
            work[0]()
            torch.cuda.synchronize()
            works[name] = work
        except RuntimeError:
            continue
    return works


def multiplied(product, sizes, session):
    """Our launches and those of the peers of a product that was found right."""
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    copies, ours = gemm.launchers(kernel, sizes)
    ours[0]()
    settle()
    gemm.judge(kernel, product, copies[0])
    return {"ingot": ours, **peers_of(kernel, product, copies)}


def moved(row, sizes, session):
    """The same for what moves bytes; the peer that counts is a copy."""
    launch, made, _ = memory.found_right(row, sizes, session)
    return {"ingot": [launch], "copy": [memory.copying(made.bytes)]}


def measure(family, row, sizes, case, session):
    works = (multiplied if isinstance(row, Product) else moved)(row, sizes, session)
    rows = timing.brief(works, session.rounds)
    ratios = {name: timing.ratio(rows, "ingot", name)[0] for name in works if name != "ingot"}
    text = ", ".join(f"{name} {median_ms(rows, name) * 1000:.1f} us" for name in works)
    best = {"ratio": min(ratios.values())} if ratios else {}
    session.report.row("any", case, f"{text}; {best.get('ratio', float('nan')):.3f} of the best peer's speed",
                       family=family.name, sizes=sizes, speeds=ratios, ms=rows, **best)


def cases(part, given):
    for family, row, sizes in drawn.cases(given.seed, given.count):
        case = f"{row.kernel} " + "x".join(map(str, sizes.values()))
        yield case, partial(measure, family, row, sizes, case)
