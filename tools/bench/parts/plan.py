"""Kernels of the zoo by rules alone, beside themselves with their schedules, on the same data."""

from functools import cache, partial

import torch

import data
import timing
import zoo
from artifact import Builder, Failure
from report import median_ms
from session import settle

# How far the two results may be apart: some are in tf32, or of 8 bits; sums are in another order.
APART = 0.02
# So many elements are compared at a time.
PART = 1 << 26
# What a scalar gets that no line of sizes names.
SCALAR = 3


@cache
def planner(ingot, out, keep):
    """The builder that leaves the schedules of files out."""
    return Builder(ingot, zoo.folder(out), keep=keep, rules_only=True)


found = cache(zoo.rules)


def limits(text, sizes):
    """What an expression of sizes is."""
    return int(eval(text.replace("/", "//"), {}, {"min": min, "max": max, **sizes}))


def fit(array, said, sizes):
    """Fills an index array with what the kernel says of its elements."""
    low, high = limits(said.low, sizes), limits(said.high, sizes)
    array.random_(low, max(high, low + 1))
    if said.is_ascending:
        array.copy_(array.sort().values)


def operands(kernel, file, sizes, inputs=()):
    """Operands with the inputs of others; or random ones, index arrays within their ranges."""
    made = data.Operands(kernel, sizes)
    for name, said in zoo.ranges(file).items():
        if not inputs and name in made.by_name:
            fit(made.by_name[name], said, sizes)
    for ours, given in zip(made.inputs, inputs):
        ours.copy_(given)
    return made


def check_same(made, other):
    """Raises a Failure unless both have the same results."""
    for name, ours in made.by_name.items():
        errors = data.Errors()
        for parts in zip(other.by_name[name].flatten().split(PART), ours.flatten().split(PART)):
            errors.add(*(torch.nan_to_num(part.double()) for part in parts))
        if not errors.norm() <= APART:
            raise Failure(f"{name} is another without schedules, relative error {errors.norm():.3e}")
    if not other.intact():
        raise Failure("written outside of the result without schedules")


def pair(file, name, sizes, session):
    """The launches of a kernel with its schedules and without, which gave the same results."""
    own = session.builder
    both = [builder.kernel(file, name, zoo.ARCH) for builder in (own, planner(own.ingot, own.out, own.keep))]
    first = operands(both[0], file, sizes)
    second = operands(both[1], file, sizes, first.inputs)
    launches = [[kernel.launcher(sizes, made.by_name)] for kernel, made in zip(both, (first, second))]
    for launch, in launches:
        launch()
        settle()
    check_same(first, second)
    for _ in range(timing.sets(first.bytes) - 1):
        made = operands(both[0], file, sizes, first.inputs)
        for kernel, work in zip(both, launches):
            work.append(kernel.launcher(sizes, made.by_name))
    return dict(zip(("with", "without"), launches))


def measure(file, name, case, session):
    sizes, rule = zoo.timed(file), found(session.builder.ingot, file).get(name, "the default")
    known = {p: sizes.get(p, SCALAR) for p in session.builder.kernel(file, name, zoo.ARCH).sizes}
    works = pair(file, name, known, session)
    rows = timing.brief(works, session.rounds)
    ratio, low, high = timing.ratio(rows, "without", "with")
    text = ", ".join(f"{work} {median_ms(rows, work) * 1000:.1f} us" for work in works)
    session.report.row("plan", case, f"{text}; {ratio:.3f} ({low:.3f} to {high:.3f}) by {rule}", without=ratio,
                       rule=rule, sizes=sizes, ms=rows)


def cases(part, given):
    for file in zoo.measured():
        for name in zoo.kernels(given.ingot, file):
            case = f"plan {name} " + "x".join(map(str, zoo.timed(file).values()))
            yield case, partial(measure, file, name, case)
