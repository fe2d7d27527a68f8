"""Schedules in steps: how much faster each is than the first of its chain."""

from functools import partial

import torch

import data
import timing
from cases import CHAINS
from definitions import DEFINITIONS
from parts.memory import error_of
from report import median_ms
from session import settle

SMALL_RESULT = 100_000
REPLAYED = 50


def step(session, chain, file, kernel_name, inputs):
    """The launch of one step on the chain's inputs, found right; and its operands."""
    kernel = session.builder.kernel(file, kernel_name, "sm_90")
    made = data.Operands(kernel, chain.sizes)
    for ours, common in zip(made.inputs, inputs or made.inputs):
        ours.copy_(common)
    launch = kernel.launcher(chain.sizes, made.by_name)
    launch()
    settle()
    error_of(chain, made)
    return launch, made


def measure(chain, session):
    works, made = {}, None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for file, kernel in chain.steps:
        launch, made = step(session, chain, file, kernel, made and made.inputs)
        works[kernel] = [launch]
    works["torch"] = [lambda: DEFINITIONS[chain.definition](*made.inputs)]
    times = REPLAYED if made.out.numel() < SMALL_RESULT else 1
    if times > 1:
        works = {name: timing.graph(work, times) for name, work in works.items()}
    rows = timing.sustained(works, session.rounds, seconds=0.02)
    first = chain.steps[0][1]
    us = {name: median_ms(rows, name) * 1000 / times for name in works}
    ratios = {name: timing.ratio(rows, name, first)[0] for name in works}
    session.report.row("chains", f"chain {chain.name}",
                       "; ".join(f"{n} {us[n]:.2f} us ({ratios[n]:.2f})" for n in works),
                       us=us, of_the_first=ratios)


def cases(part, given):
    for chain in CHAINS:
        yield f"chain {chain.name}", partial(measure, chain)
