#!/usr/bin/env python3
"""Changes operators and conditions of the compiler's passes, one at a time, and counts
how many of these mutants the tests catch.

    tests/mutation/campaign.py build                draw the mutants and build them
    tests/mutation/campaign.py reach --jobs 2       which test executes which mutant
    tests/mutation/campaign.py run --jobs 2         the mutants, each until a test fails
    tests/mutation/campaign.py report               the share caught, and what survives

All mutants are in one build, in --build (build/mutation); the environment variable
INGOT_MUTANT chooses the one that acts. A mutant meets the golden tests and unit tests
that execute it, those first that execute few others.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from sites import Site, sites_of_file

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# In front of each file with mutants, on its first line so that line numbers stay.
DECLARATIONS = """\
extern int ingot_mutant; extern volatile unsigned char *ingot_reached; \
static inline int ingot_is_mutant(int n) { if (ingot_reached) ingot_reached[n] = 1; \
return n == ingot_mutant; } """

# What they declare. A shared mapping counts what children execute, too.
DEFINITIONS = r"""
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int ingot_mutant = -1;
volatile unsigned char *ingot_reached;
__attribute__((constructor)) static void begin(void)
{
    const char *mutant = getenv("INGOT_MUTANT"), *reached = getenv("INGOT_REACHED");
    int fd = reached ? open(reached, O_RDWR) : -1;
    if (mutant)
        ingot_mutant = atoi(mutant);
    if (fd >= 0)
        ingot_reached = mmap(NULL, MUTANTS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
}
"""

# Unit tests of passes; the slowest comes last.
UNITS = ("passes_*", "schedule_*", "ir_*", "nvptx_*", "simt_faults", "matrix_kernels")


# ---- Mutants ----------------------------------------------------------------


def draw(o):
    """Return --mutants of the mutants of the files that --only names, by --seed."""
    files = subprocess.run(["git", "ls-files", "passes/*.c"], cwd=ROOT, text=True,
                           stdout=subprocess.PIPE, check=True).stdout.split()
    files = [f for f in sorted(files) if re.search(o.only, f)]
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        sites = [s for found in pool.map(sites_of_file, [ROOT] * len(files), files)
                 for s in found]
    chosen = random.Random(o.seed).sample(sites, min(o.mutants, len(sites)))
    print(f"{len(chosen)} of {len(sites)} mutants of {len(files)} files, seed {o.seed}")
    return sorted(chosen, key=lambda s: (s.file, s.begin, s.end, s.what))


def rewritten(source, mutants):
    """Return a text with mutants, (number, site), that one variable switches.

    Those inside of another one are written first, into both of its versions.
    """
    def text(begin, end, inside):
        out, at = "", begin
        while inside:
            n, s = max(inside, key=lambda m: (-m[1].begin, m[1].end, m[0]))
            inner = [m for m in inside if m[0] != n and m[1].end <= s.end]
            inside = [m for m in inside if m[1].begin >= s.end]
            out += source[at:s.begin]
            out += f"(ingot_is_mutant({n}) ? ({s.after}) : ({text(s.begin, s.end, inner)}))"
            at = s.end
        return out + source[at:end]

    return DECLARATIONS + text(0, len(source), list(mutants))


def write_mutants(tree, mutants):
    """Write the mutants into a copy of the sources."""
    files = collections.defaultdict(list)
    for n, site in enumerate(mutants):
        files[site.file].append((n, site))
    for file, numbered in files.items():
        with open(os.path.join(ROOT, file), encoding="utf-8") as f:
            source = f.read()
        with open(os.path.join(tree, file), "w", encoding="utf-8") as f:
            f.write(rewritten(source, numbered))
    with open(os.path.join(tree, "ir/base/mutant.c"), "w", encoding="utf-8") as f:
        f.write(f"enum {{ MUTANTS = {len(mutants)} }};" + DEFINITIONS)


def build(o):
    """Draw the mutants, write them into a copy of the sources, build it."""
    mutants, tree = draw(o), os.path.join(o.build, "tree")
    shutil.rmtree(tree, ignore_errors=True)
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                           check=True).stdout.split("\n")
    for file in filter(None, files):
        os.makedirs(os.path.dirname(os.path.join(tree, file)), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, file), os.path.join(tree, file))
    write_mutants(tree, mutants)
    with open(os.path.join(o.build, "mutants.json"), "w", encoding="utf-8") as f:
        json.dump([vars(m) for m in mutants], f, indent=1)
    subprocess.run(["cmake", "--preset", "dev", "-DINGOT_WERROR=OFF", *o.cmake], cwd=tree, check=True)
    subprocess.run(["cmake", "--build", "--preset", "dev", f"-j{o.jobs}"], cwd=tree, check=True)


def load_mutants(o):
    """Return the mutants that were built."""
    with open(os.path.join(o.build, "mutants.json"), encoding="utf-8") as f:
        return [Site(**m) for m in json.load(f)]


# ---- Tests ------------------------------------------------------------------


def all_tests(o):
    """Return the names of all tests: files of tests/lit, programs of tests/unit."""
    tree = os.path.join(o.build, "tree")
    tests = []
    for folder, _, files in os.walk(os.path.join(tree, "tests/lit")):
        where = os.path.relpath(folder, os.path.join(tree, "tests/lit"))
        if "Inputs" not in where.split(os.sep):
            tests += ["lit/" + os.path.normpath(os.path.join(where, f)) for f in files
                      if f.endswith((".ing", ".test", ".txt"))]
    listed = os.listdir(os.path.join(tree, "build/dev/tests/unit"))
    units = [u for u in listed if any(re.match(p.replace("*", ".*") + "$", u) for p in UNITS)]
    named = ["unit/" + u for u in sorted(units)] + sorted(tests)
    return [t for t in named if not (o.skip and re.search(o.skip, t))]


def environment(o, extra):
    """Return the environment of a test, as tests/CMakeLists.txt gives it."""
    tree = os.path.join(o.build, "tree")
    dev = os.path.join(tree, "build/dev")
    return {**os.environ, "SOURCE_DIR": tree, "BUILD_DIR": dev, "INGOT": os.path.join(dev, "ingot"),
            "INGOT_CUDA": o.cuda, "FAKE_DRIVER": os.path.join(dev, "tests/fake_driver"), **extra}


def command(o, test):
    """Return the command of a test."""
    dev = os.path.join(o.build, "tree/build/dev/tests")
    kind, name = test.split("/", 1)
    if kind == "unit":
        return [os.path.join(dev, "unit", name)]
    return [o.lit, "-q", "-j1", "--skip-test-time-recording", os.path.join(dev, "lit", name)]


def passes(o, test, seconds, **extra):
    """Run a test; return whether it passes, within so many seconds."""
    child = subprocess.Popen(command(o, test), env=environment(o, extra), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    try:
        return child.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return False


def reach_one(o, test, n, number):
    """Run a test without a mutant; return its seconds and which mutants it executes."""
    scratch = os.path.join(o.build, "reached", str(number))
    with open(scratch, "wb") as f:
        f.write(bytes(max(n, 1)))
    began = time.monotonic()
    is_right = passes(o, test, o.seconds * 5, INGOT_REACHED=scratch)
    seconds = time.monotonic() - began
    with open(scratch, "rb") as f:
        reached = [i for i, byte in enumerate(f.read()[:n]) if byte]
    return test, {"seconds": seconds, "passes": is_right, "reached": reached}


def reach(o):
    """Find out which test executes which mutants."""
    mutants = load_mutants(o)
    os.makedirs(os.path.join(o.build, "reached"), exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        runs = [pool.submit(reach_one, o, t, len(mutants), i) for i, t in enumerate(all_tests(o))]
        found = dict(r.result() for r in concurrent.futures.as_completed(runs))
    with open(os.path.join(o.build, "reach.json"), "w", encoding="utf-8") as f:
        json.dump(found, f, indent=1)
    for test in sorted(found, key=lambda t: -found[t]["seconds"])[:5]:
        print(f"{test}: {found[test]['seconds']:.0f} s")
    print(f"{len(found)} tests, {sum(not t['passes'] for t in found.values())} fail by themselves")


# ---- Runs -------------------------------------------------------------------


def load_reach(o):
    """Return what `reach` found, of tests that pass."""
    with open(os.path.join(o.build, "reach.json"), encoding="utf-8") as f:
        return {t: r for t, r in json.load(f).items() if r["passes"]}


def order(tests, n):
    """Return the tests that execute mutant n: those that take little for what they execute first."""
    reaching = [t for t, r in tests.items() if n in r["reached"]]
    return sorted(reaching, key=lambda t: (tests[t]["seconds"] * len(tests[t]["reached"]), t))


def run_one(o, tests, n):
    """Run a mutant; return its fate: the test that catches it, or how many do not."""
    chosen = order(tests, n)
    for test in chosen[:o.most]:
        if not passes(o, test, o.seconds + 10 * tests[test]["seconds"], INGOT_MUTANT=str(n)):
            return {"caught": test}
    return {"unreached" if not chosen else "survives": min(len(chosen), o.most)}


def results_path(o):
    """Return where the fates of mutants are."""
    return os.path.join(o.build, "results.json")


def run(o):
    """Run all mutants, or those that --again names, each until a test fails."""
    mutants, tests, results = load_mutants(o), load_reach(o), {}
    if o.again and os.path.exists(results_path(o)):
        with open(results_path(o), encoding="utf-8") as f:
            results = {int(n): r for n, r in json.load(f).items()
                       if not any(re.fullmatch(o.again, fate) for fate in r)}
    todo = [n for n in range(len(mutants)) if n not in results]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        runs = {pool.submit(run_one, o, tests, n): n for n in todo}
        for done in concurrent.futures.as_completed(runs):
            results[runs[done]] = done.result()
            print(runs[done], mutants[runs[done]].name(), done.result(), flush=True)
            with open(results_path(o), "w", encoding="utf-8") as f:
                json.dump(results, f, indent=1)
    report(o)


def explained():
    """Return the mutants that equivalents.txt explains."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalents.txt")
    with open(path, encoding="utf-8") as f:
        return {" ".join(line.rsplit(" | ", 1)[0].split()) for line in f if " | " in line}


def key(site):
    """Return how equivalents.txt names a mutant: without its line, which moves."""
    return " ".join(f"{site.file}: {site.what}: {site.before}".split())


def report(o):
    """Print the share of mutants that tests catch, and the others."""
    mutants, known, counts = load_mutants(o), explained(), collections.Counter()
    with open(results_path(o), encoding="utf-8") as f:
        results = {int(n): r for n, r in json.load(f).items()}
    for n in sorted(results):
        fate = next(iter(results[n]))
        if fate != "caught":
            fate = "equal" if key(mutants[n]) in known else fate
            print(f"{fate:10} {n:4} {mutants[n].name()}")
        counts[fate] += 1
    count = sum(counts.values()) - counts["equal"]
    print(", ".join(f"{v} {k}" for k, v in sorted(counts.items())))
    print(f"caught: {100 * counts['caught'] / max(count, 1):.1f} % of {count} that count, "
          f"{100 * counts['caught'] / max(len(results), 1):.1f} % of all {len(results)}")


def main():
    """Read the command line."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("step", choices=("build", "reach", "run", "report"))
    p.add_argument("--build", default=os.path.join(ROOT, "build/mutation"), help="folder of the build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--mutants", type=int, default=300)
    p.add_argument("--only", default="", help="files that are mutated, a regular expression")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--most", type=int, default=10**6, help="most tests for a mutant")
    p.add_argument("--seconds", type=float, default=20, help="of a test beyond ten times its own")
    p.add_argument("--skip", help="tests that are left out, a regular expression")
    p.add_argument("--again", help="run those whose fate was this, `survives|unreached`, once more")
    p.add_argument("--cuda", default=os.path.join(ROOT, "build/cuda"))
    p.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit")
    p.add_argument("--cmake", action="append", default=[], help="an option of cmake")
    o = p.parse_args()
    sys.setrecursionlimit(100000)
    os.makedirs(o.build, exist_ok=True)
    {"build": build, "reach": reach, "run": run, "report": report}[o.step](o)


if __name__ == "__main__":
    main()
