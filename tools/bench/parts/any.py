"""Kernels at sizes drawn from a seed: each case is found right, then timed beside its peers."""

from collections import Counter
from functools import partial

import torch

import beside
import data
import drawn
import movers
import timing
from cases import Product
from definitions import DEFINITIONS, MOVED
from parts import gemm, memory
from report import median_ms
from session import settle


# How far what a peer gives may be from ours, which is right: it rounds what is between, but computes the same.
ALIKE = 0.05


def check_alike(theirs, ours):
    """Raises an error unless a peer computed what we did; it may give more rows and columns behind."""
    theirs = theirs if isinstance(theirs, torch.Tensor) else torch.from_dlpack(theirs)
    if theirs.dim() == ours.dim():
        theirs = theirs[tuple(map(slice, ours.shape))]
    error = data.errors(theirs.reshape(ours.shape), ours).norm()
    if not error <= ALIKE:
        raise ValueError(f"another result, relative error {error:.3e}")


def tried(peers, ours):
    """Per peer, of (name, function that gives its calls), those that compute our result; and why others do not."""
    works, absent = {}, {}
    for name, prepare in peers:
        try:
            work = prepare()
            check_alike(work[0](), ours)
            works[name] = work
        except Exception as error:
            absent[name] = f"{type(error).__name__}: {error}"[:200]
    return works, absent


def multiplied(product, sizes, case, session, peers):
    """Our launches of a product that was found right, its result, how to get the calls of each of these peers, and the
    launches of other schedules."""
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    copies, ours = gemm.launchers(kernel, sizes)
    ours[0]()
    settle()
    gemm.judge(kernel, product, copies[0])
    calls = [(name, lambda name=name: [gemm.rival(name, kernel, made, product.finish) for made in copies])
             for name in peers]
    same = beside.variants(product, sizes, copies, gemm.judging(product), "any", case, session)
    ours[0]()
    return {"ingot": ours}, copies[0].out, calls, same


def moved(row, sizes, case, session, peers):
    """The same for what moves bytes, beside a copy of as many."""
    launch, made, _ = memory.found_right(row, sizes, session)
    out = memory.result_of(row, made)
    count = MOVED[row.definition](made.inputs, out) if row.definition in MOVED else made.bytes
    kernel = session.builder.kernel(row.file, row.kernel, row.arch)
    others = [memory.operands(kernel, row, sizes) for _ in range(timing.sets(count) - 1)]
    ours = [launch, *(kernel.launcher(sizes, other.by_name) for other in others)]
    inputs, definition = [made.inputs, *(other.inputs for other in others)], DEFINITIONS[row.definition]
    calls = [(name, partial(give, definition, inputs)) for name, give in peers.items()]
    same = beside.variants(row, sizes, [made, *others], lambda _, one: memory.error_of(row, one), "any", case, session)
    launch()
    return {"ingot": ours, "copy": [memory.copying(count) for _ in ours]}, out, calls, same


def speeds_of(rows, same):
    """Our speed over that of each work, and over the best of the peers that compute the same."""
    found = {name: timing.ratio(rows, "ingot", name)[0] for name in rows if name != "ingot"}
    return {**found, **({"best": min(found[name] for name in same)} if same else {})}


def peers_of(row, place):
    """Per name the peers of the case at a place in its family: torch.compile is one of the first."""
    peers = row.peers if isinstance(row, Product) else movers.peers(row.definition)
    return {name: peer for name, peer in peers.items() if name != "compiled" or place < drawn.COMPILED}


def measure(family, row, sizes, place, case, session):
    prepare = multiplied if isinstance(row, Product) else moved
    named = peers_of(row, place) if session.has_peers else {}
    works, out, calls, variants = prepare(row, sizes, case, session, named)
    same, absent = tried(calls, out)
    works = {**works, **same}
    rows = timing.brief({**works, **variants}, session.rounds)
    speeds = speeds_of(rows, same)
    text = ", ".join(f"{name} {median_ms(rows, name) * 1000:.1f} us" for name in rows)
    over = ", ".join(f"{speeds[peer]:.3f} of {peer}" for peer in family.goals if peer in speeds)
    without = "".join(f"; not run: {name} ({why.splitlines()[0]})" for name, why in absent.items())
    session.report.row("any", case, f"{text}; {over or 'no peer'}{without}", family=family.name, sizes=sizes,
                       speeds=speeds, absent=absent, ms=rows)


def cases(part, given):
    places = Counter()
    for family, row, sizes in drawn.cases(given.seed, given.count, given.family):
        case = f"{row.kernel} " + "x".join(map(str, sizes.values()))
        yield case, partial(measure, family, row, sizes, places[family.name], case)
        places[family.name] += 1
