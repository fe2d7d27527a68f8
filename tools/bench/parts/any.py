"""Kernels at sizes drawn from a seed: each case is found right, then timed beside its peers."""

from functools import partial

import torch

import drawn
import movers
import timing
from cases import Product
from definitions import DEFINITIONS
from parts import gemm, memory
from report import median_ms
from session import settle


def tried(peers):
    """Per peer, of (name, function that gives its calls), those that compute these operands."""
    works = {}
    for name, prepare in peers:
        try:
            work = prepare()
            work[0]()
            torch.cuda.synchronize()
            works[name] = work
        except (RuntimeError, ImportError):
            continue
    return works


def multiplied(product, sizes, session):
    """Our launches and those of the peers of a product that was found right."""
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    copies, ours = gemm.launchers(kernel, sizes)
    ours[0]()
    settle()
    gemm.judge(kernel, product, copies[0])
    peers = [(name, lambda name=name: [gemm.rival(name, kernel, made, product.finish) for made in copies])
             for name in product.peers]
    beside = gemm.variants(product, tuple(sizes.values()), copies, session)
    return {"ingot": ours, **(tried(peers) if session.has_peers else {})}, beside


def moved(row, sizes, session):
    """The same for what moves bytes, beside a copy of as many."""
    launch, made, _ = memory.found_right(row, sizes, session)
    definition = DEFINITIONS[row.definition]
    peers = [(name, lambda give=give: [give(definition, made.inputs)]) for name, give in movers.peers(row.definition)]
    works = {"ingot": [launch], "copy": [memory.copying(made.bytes)]}
    return {**works, **(tried(peers) if session.has_peers else {})}, {}


def speeds_of(rows, names):
    """Our speed over that of each of these, and over the best of those that compute the same."""
    found = {name: timing.ratio(rows, "ingot", name)[0] for name in names}
    same = [speed for name, speed in found.items() if name != "copy"]
    return {**found, **({"best": min(same)} if same else {})}


def measure(family, row, sizes, case, session):
    works, beside = (multiplied if isinstance(row, Product) else moved)(row, sizes, session)
    rows = timing.brief({**works, **beside}, session.rounds)
    speeds = speeds_of(rows, [name for name in works if name != "ingot"])
    text = ", ".join(f"{name} {median_ms(rows, name) * 1000:.1f} us" for name in rows)
    over = ", ".join(f"{speeds[peer]:.3f} of {peer}" for peer in family.goals if peer in speeds)
    session.report.row("any", case, f"{text}; {over or 'no peer'}", family=family.name, sizes=sizes, speeds=speeds,
                       ms=rows)


def cases(part, given):
    for family, row, sizes in drawn.cases(given.seed, given.count, given.family):
        case = f"{row.kernel} " + "x".join(map(str, sizes.values()))
        yield case, partial(measure, family, row, sizes, case)
