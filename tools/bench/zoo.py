#!/usr/bin/env python3
"""The kernels of the zoo that have schedules, the sizes of their timings, and what they get without their schedules.

    tools/bench/zoo.py INGOT [FILE...]

prints a table: for each kernel the rule that is found for its definition alone, or the default.
"""

import glob
import itertools
import os
import re
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from artifact import KERNELS, Builder, Failure, command

# What a kernel says of the elements of an index array: expressions of sizes, the second one not in it.
Range = namedtuple("Range", "low high is_ascending")
# Below this ratio of speeds a kernel is listed, without its schedules against with them.
LEAST = 0.6
# What they are measured for.
ARCH = "sm_90a"


def folder(out):
    """Where files go that are built without their schedules."""
    return f"{out}/rules"


def files():
    """The kernel files of the zoo, without .ing, relative to tests/kernels; not the seeds nor what is written as
    loops for Tensor Cores."""
    paths = sorted(glob.glob(f"{KERNELS}/*.ing") + glob.glob(f"{KERNELS}/features/*.ing"))
    return [os.path.relpath(path, KERNELS)[:-4] for path in paths]


def text_of(file):
    with open(f"{KERNELS}/{file}.ing") as opened:
        return opened.read()


def timed(file):
    """The sizes of the timings: the first `// large:` line that names some; None if there is none."""
    found = re.search(r"^// large: (.*\S)", text_of(file), re.M)
    return found and {name: int(value) for name, value in (word.split("=") for word in found.group(1).split())}


def scheduled(file):
    """The names of the kernels, or of their families, that the file has schedules for, but for those that only say
    what others compute."""
    text = text_of(file)
    heads = re.findall(r"^schedule ([\w, ]+?)(?= by\b| when\b| for\b|\(|\{|$)", text, re.M)
    plain = {re.match(r"\w+?(?=_\{|\b)", name).group() for name in re.findall(r"\bdefines (\w+)", text)}
    names = {name.strip() for head in heads for name in head.split(",")}
    return {name for name in names if not any(name == p or p.startswith(f"{name}_") for p in plain)}


def measured():
    """The files that are measured with and without their schedules."""
    return [file for file in files() if timed(file) and scheduled(file)]


def instances(file):
    """Per kernel of the file, or family of them, a pattern of the names of its instances."""
    found = {}
    for part in re.split(r"^kernel ", text_of(file), flags=re.M)[1:]:
        name, named = re.match(r"\w+", part).group(), re.findall(r"\bas (\w[\w{}]*)", part)
        found[name] = "|".join(re.sub(r"\{\w+\}", r"\\w+", one) for one in named or [name])
    return found


def ranges(file):
    """Per array of the file the range that it says of its elements, as expressions of sizes."""
    found = {}
    for clause in re.findall(r"\brange (.+?)(?=\n|\{)", text_of(file)):
        for name, low, high, ascending in re.findall(r"(\w+) in (.+?)\.\.(.+?)( ascending)?(?=, \w+ in |$)",
                                                     clause.strip()):
            found[name] = Range(low, high, bool(ascending))
    return found


def rules(ingot, file):
    """Per kernel of a file, without its schedules, the rule that is found; those with the default are not in it."""
    said = command(ingot, "schedule", f"{KERNELS}/{file}.ing", "--rules-only")
    return dict(re.findall(r"^schedule (\w+) by (\w+)\(", said, re.M))


def kernels(ingot, file):
    """The names of a file's kernels that have schedules, instances included."""
    said = command(ingot, "opt", f"{KERNELS}/{file}.ing", "--stop-after", "schedule", "--no-schedule")
    wanted = "|".join(pattern for family, pattern in instances(file).items() if family in scheduled(file))
    return [name for name in dict.fromkeys(re.findall(r"^kernel (\w+)\(", said, re.M)) if re.fullmatch(wanted, name)]


def build(ingot, out):
    """Builds what is measured, with and without its schedules, as many files at a time as there are processors; returns
    what failed."""
    ways = [Builder(ingot, out), Builder(ingot, folder(out), rules_only=True)]

    def one(task):
        builder, file = task
        try:
            for name in kernels(ingot, file):
                print(builder.built(file, name, ARCH), flush=True)
        except Failure as failure:
            return f"{file}: FAILED: {failure}"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for text in pool.map(one, itertools.product(ways, measured())) if text]


def summary(rows):
    """Lines about kernels measured with and without their schedules, the slowest without first."""
    found = sorted((row["without"], row["case"], row["rule"]) for row in rows if "without" in row)
    if found:
        below = sum(ratio < LEAST for ratio, *_ in found)
        yield f"without schedules: {len(found)} kernels, {below} below {LEAST} of the speed with them; slowest first"
    for ratio, case, rule in found:
        yield f"    {ratio:7.3f}  {case:40} {rule}"


def main():
    print("| file | kernel | without its schedules |\n|---|---|---|")
    for file in sys.argv[2:] or files():
        try:
            found = rules(sys.argv[1], file)
            for name in kernels(sys.argv[1], file):
                print(f"| {file} | {name} | {found.get(name, 'default')} |", flush=True)
        except Failure as failure:
            print(f"| {file} | | failed: {failure} |")


if __name__ == "__main__":
    main()
