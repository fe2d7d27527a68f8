"""What else computes the same as a kernel: the same file built by others, and files with other schedules."""

import os
from functools import partial

import data
from artifact import Failure, has_kernel
from session import settle


def others(row, session):
    """(name, function that gives the kernel) of each file with another schedule of a row's kernel, and of what others
    build of its own file."""
    for path in (os.path.abspath(f) for f in session.beside if has_kernel(session.builder.ingot, f, row.kernel)):
        yield os.path.basename(path)[:-4], partial(session.builder.kernel, path[:-4], row.kernel, row.arch)
    for name, builder in session.others.items():
        yield name, partial(builder.kernel, row.file, row.kernel, row.arch)


def variants(row, sizes, made, judge, part, case, session):
    """Per name of these: its launches on every set of operands, after `judge` (of the kernel and the first set) found
    its result right.  One that is wrong, or cannot be built, is a failure of the case."""
    works = {}
    for name, open_kernel in others(row, session):
        try:
            kernel = open_kernel()
            work = [kernel.launcher(sizes, one.by_name) for one in made]
            data.poison(made[0].out)
            work[0]()
            settle()
            judge(kernel, made[0])
            works[name] = work
        except Failure as failure:
            session.report.failure(part, f"{case}, {name}", str(failure))
    return works
