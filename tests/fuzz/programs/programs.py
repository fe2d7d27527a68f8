#!/usr/bin/env python3
"""Programs of explicit loops that are right by construction, and with one fault.

    programs.py --tool build/dev/tests/fuzz_values [--seed S] [--first N]
                [--cases M] [--jobs J] [--until T] [--out DIR] [--print]
    programs.py --tool TOOL CASE.json...

A case is one pattern of patterns/, or two as launches one behind the other, with
numbers and types drawn.  Cases of even number must be clean under every policy of
the executor and compute what the pattern's Python says; in the others one
statement is dropped or replaced, which the executor must find.  Exit status: 0 all
as it should be, 1 not, 2 usage.
"""

import collections
import glob
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))

import command
import numbers_of_types as numbers

Pattern = collections.namedtuple("Pattern", "name choices size low high faulty results text")
LEAST_NAMED = 0.95


# ---- patterns


def read(path):
    """A pattern: what its head says, and its text."""
    choices, results, size, faulty = {}, [], None, None
    lines = open(path).read().splitlines()
    head = [line[3:] for line in lines if line.startswith("// ")]
    for line in head[1:]:
        key, value = line.split(":", 1)
        if key == "sizes":
            size, low, high = re.match(r" (\w+) (\d+)\.\.(\d+)", value).groups()
        elif key == "faulty":
            faulty = value.strip()
        elif "[" in key:
            results.append((key, value.strip()))
        else:
            choices[key] = value.split()
    text = "\n".join(line for line in lines if not line.startswith("// "))
    name = os.path.basename(path)[:-4]
    return Pattern(name, choices, size, int(low), int(high), faulty, results, text)


PATTERNS = [read(path) for path in sorted(glob.glob(os.path.join(HERE, "patterns/*.ing")))]


def filled(text, values):
    """A text with values for `$T`, and for `$(T - 1)`."""
    for key, value in values.items():
        text = re.sub(rf"\${key}\b", str(value), text)
    return re.sub(r"\$\(([^)]*)\)", lambda m: str(eval(m[1], dict(values))), text)


# ---- one part


def settle(rng, lines):
    """Lines without their marks; those that are optional are dropped at times."""
    kept = []
    for line in lines:
        if line.endswith("//?"):
            if rng.random() < 0.5:
                continue
            line = line[:-3]
        kept.append(re.sub(r"\s*//[-~].*$", "", line))
    return "\n".join(kept)


def planted(rng, lines):
    """Lines with one fault, and the names that it may have."""
    at = rng.choice([i for i, line in enumerate(lines) if re.search("//[-~]", line)])
    line, mark = re.split(r"\s*//(?=[-~])", lines[at])
    if mark[0] == "-":
        return lines[:at] + lines[at + 1:], mark[1:].split()
    change, names = mark[1:].rsplit(" : ", 1)
    old, new = change.strip().split(" => ")
    assert old in line, (old, line)
    return lines[:at] + [line.replace(old, new)] + lines[at + 1:], names.split()


def draw_size(rng, pattern, is_faulty):
    while True:
        value = rng.randint(pattern.low, pattern.high)
        if not is_faulty or eval(pattern.faulty, {pattern.size: value}):
            return value


def elements(rng, kind, shape):
    """A nested list of small numbers, and the same in a row."""
    if not shape:
        value = rng.randint(0, 9)
        return float(value) if kind in numbers.FLOATS else value
    return [elements(rng, kind, shape[1:]) for _ in range(shape[0])]


def flat(values):
    return ([x for row in values for x in flat(row)] if isinstance(values, list)
            else [values])


def declared(text, names):
    """Types and shapes of the arrays that a head names."""
    head = text[:text.index("{")]
    known = {"ceildiv": lambda a, b: -(-a // b), **names}
    return {name: (kind, list(eval(f"({shape},)", known)))
            for name, kind, shape in re.findall(
                r"(\w+): (\w+)\[((?:[^][]|\[[^]]*\])*)\]", head)}


def wanted(pattern, values, arrays, data):
    """What the results hold, by the pattern's Python."""
    found = {}
    for left, right in pattern.results:
        name, indices = re.match(r"(\w+)\[(.*)\]", left).groups()
        kind, shape = arrays[name]
        code = compile(right, pattern.name, "eval")
        names = indices.split(", ")

        def at(prefix):
            if len(prefix) == len(shape):
                known = {**values, **data, **dict(zip(names, prefix))}
                x = eval(code, known)
                return float(x) if kind in numbers.FLOATS else numbers.wrap(kind, x)
            return [at(prefix + [i]) for i in range(shape[len(prefix)])]

        found[name] = (kind, flat(at([])))
    return found


def renamed(text, suffix):
    """A part whose arrays and sizes have names of their own."""
    head = text[:text.index("{")]
    names = re.findall(r"(\w+): ", head[head.index("("):])
    names += re.findall(r"^    alloc (\w+):", text, re.M)
    for name in names:
        text = re.sub(rf"\b{name}\b", name + suffix, text)
    return text


def draw_part(rng, suffix, is_faulty):
    """A part of a case, and what its fault may be called."""
    pattern = rng.choice(PATTERNS)
    values = {key: rng.choice(options) for key, options in pattern.choices.items()}
    values = {k: int(v) if v.isdigit() else v for k, v in values.items()}
    size = draw_size(rng, pattern, is_faulty)
    lines, names = pattern.text.splitlines(), []
    if is_faulty:
        lines, names = planted(rng, lines)
    text = filled(settle(rng, lines), values)
    known = {**values, pattern.size: size}
    arrays = declared(text, known)
    results = [left.split("[")[0] for left, _ in pattern.results]
    data = {name: elements(rng, *of) for name, of in arrays.items()
            if name not in results}
    given = {name + suffix: numbers.encode(arrays[name][0], flat(x))
             for name, x in data.items()}
    found = {name + suffix: x
             for name, x in wanted(pattern, known, arrays, data).items()}
    return (pattern.name, renamed(text, suffix), {pattern.size + suffix: size},
            given, found, names)


# ---- a case


def joined(texts):
    """Kernels as one, their launches in order."""
    heads, results, bodies = [], [], []
    for text in texts:
        head, body = text.split("{", 1)
        known, result = head.split(" -> ")
        heads.append(known[known.index("(") + 1:known.rindex(")")])
        results.append(result.strip())
        bodies.append(body.rstrip()[:-1].strip("\n"))
    return (f"kernel f({', '.join(heads)}) -> ({', '.join(results)}) {{\n"
            + "\n".join(bodies) + "\n}\n")


def draw(seed, number):
    """Case `number` of a seed, as the tool takes it, and what is expected."""
    rng = random.Random(seed * 1000003 + number)
    is_faulty, count = number % 2 == 1, rng.choice((1, 1, 2))
    bad = rng.randrange(count) if is_faulty else None
    parts = [draw_part(rng, str(i), i == bad) for i in range(count)]
    given = {"text": joined([part[1] for part in parts]), "sizes": {}, "arrays": {},
             "target": "sm_90a", "ways": ["executor"],
             "parts": [part[0] for part in parts], "names": [], "wanted": {}}
    for name, text, sizes, data, found, names in parts:
        given["sizes"].update(sizes)
        given["arrays"].update(data)
        given["names"] += names
        for array, (kind, values) in found.items():
            given["wanted"][array] = [kind, numbers.encode(kind, values)]
    return given


def judge(given, said):
    """What came of a case."""
    if said is None:
        return "failed", "the tool ended"
    if "refused" in said:
        return "failed", said["refused"]
    found = said["executor"].get("faults", [])
    if given["names"]:
        if not found:
            return "failed", f"nothing found, {given['names']} planted"
        hit = set(found) & set(given["names"])
        return ("named", "") if hit else ("found", f"{found} of {given['names']}")
    if found:
        return "failed", f"right, but found: {found}"
    for name, (kind, digits) in given["wanted"].items():
        got = said["executor"].get(name, "")
        if got != digits:
            return "failed", (f"{name} is {numbers.decode(kind, got)} instead of "
                              f"{numbers.decode(kind, digits)}")
    return "agrees", ""


def summary(counts):
    """The counts in words, and whether they are good enough."""
    twins = counts["named"] + counts["found"]
    print(f"{counts['agrees']} right programs are, {twins} faults found, "
          f"{counts['named']} under a name that fits, {counts['failed']} failed")
    return counts["failed"] == 0 and counts["named"] >= LEAST_NAMED * twins


if __name__ == "__main__":
    sys.exit(command.main(__doc__, draw, judge, summary))
