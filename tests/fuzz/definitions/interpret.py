#!/usr/bin/env python3
"""Definitions, computed by the compiler and by an interpreter of its own.

    interpret.py --tool build/dev/tests/fuzz_values [--seed S] [--first N]
                 [--cases M] [--jobs J] [--until T] [--out DIR] [--print]
    interpret.py --tool TOOL CASE.json...

Draws cases, has TOOL compute them in three ways (support/values.c), and compares
each with interpreter.py.  Exit status: 0 all agree, 1 some do not, 2 usage.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "support"))

import command
import language
import numbers_of_types as numbers
from drawing import draw
from interpreter import interpret

LEAST_COMPARED = 0.9  # of all cases, or the comparison says little
TOO_LONG = "more steps than allowed"
WAYS = ("definition", "lowered", "executor")


def expected(given):
    """What the interpreter says: arrays by their names, or a fault."""
    kernel = language.parse(given["text"])
    kinds = {p.name: p.type for p in kernel.parameters if p.shape is not None}
    data = {name: numbers.decode(kinds[name], digits)
            for name, digits in given["arrays"].items()}
    try:
        return interpret(kernel, given["sizes"], data), None
    except numbers.Fault as fault:
        return None, str(fault)


def difference(wanted, got):
    """The first element that differs, in words; None where there is none."""
    for name, array in wanted.items():
        values = numbers.decode(array.type, got[name])
        if len(values) != len(array.values):
            return f"{name} has {len(values)} elements instead of {len(array.values)}"
        for at, (x, y) in enumerate(zip(array.values, values)):
            if not numbers.same(array.type, x, y):
                return f"{name} element {at} is {y!r} instead of {x!r}"
    return None


def judge(given, said):
    """What came of a case, and why."""
    if said is None:
        return "failed", "the tool ended"
    if "refused" in said:
        return "refused", said["refused"].split(":")[0]
    wanted, fault = expected(given)
    if fault and "fault" in said["definition"]:
        return "fault", ""
    if fault:
        return "failed", f"no fault, but the interpreter has one: {fault}"
    for way in WAYS:
        found = said[way].get("fault")
        if found == TOO_LONG and way != "definition":
            return "long", ""
        found = found or difference(wanted, said[way])
        if found:
            return "failed", f"{way}: {found}"
    return "agrees", ""


def summary(counts):
    """The counts in words, and whether they are good enough."""
    kinds = ("agrees", "fault", "long", "refused", "failed")
    agree, faults, long, refused, failed = (counts[kind] for kind in kinds)
    print(f"{agree} agree, {faults} are faults of both, {long} take too long, "
          f"{refused} refused, {failed} failed")
    return failed == 0 and agree >= LEAST_COMPARED * (sum(counts[k] for k in kinds))


if __name__ == "__main__":
    sys.exit(command.main(__doc__, draw, judge, summary))
