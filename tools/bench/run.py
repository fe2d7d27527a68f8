#!/usr/bin/env python3
"""Builds, runs, checks and times the zoo beside its peers on a GPU.

    tools/bench/run.py INGOT OUTDIR [--only PART...] [--json FILE] [--rounds N] [--budget SECONDS]
    tools/bench/run.py INGOT OUTDIR --build-only      # needs no GPU; then elsewhere: --built
    tools/bench/run.py --list

INGOT is the command, OUTDIR takes what is built. Needs a C compiler, PyTorch, and Triton
where it is compared with. README.md says how times are taken.

The cases run in a process of their own; when one crashes it, hangs or loses the device, a
new process goes on with the case after it.
"""

import argparse
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases  # noqa: E402
import zoo  # noqa: E402
from artifact import Builder, Failure, others  # noqa: E402
from report import Progress, Report  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description="Times the zoo beside its peers on a GPU.")
    parser.add_argument("ingot", nargs="?")
    parser.add_argument("outdir", nargs="?")
    parser.add_argument("--only", nargs="+", choices=list(cases.PARTS),
                        default=[part for part in cases.PARTS if part not in cases.NAMED])
    parser.add_argument("--seed", type=int, default=1, help="what the part any draws its sizes from (1)")
    parser.add_argument("--count", type=int, default=200, help="how many cases of each family it draws (200)")
    parser.add_argument("--family", default="", metavar="TEXT",
                        help="only the family of the part any of that name, or those whose name has it")
    parser.add_argument("--match", default="", metavar="TEXT", help="only cases whose name has it")
    parser.add_argument("--beside", nargs="+", default=[], metavar="FILE",
                        help="files with other schedules of GEMMs, to take turns, too")
    parser.add_argument("--before", metavar="INGOT",
                        help="another build of the command, whose kernels take turns, too, as `before`")
    parser.add_argument("--rules-only", action="store_true",
                        help="build files without their schedules, by the rules that are found")
    parser.add_argument("--schedules", action="store_true",
                        help="with --rules-only: the files' own schedules take turns, too, as `schedules`")
    parser.add_argument("--no-peers", action="store_true", help="GEMMs, and the part any, measure no peers")
    parser.add_argument("--json", metavar="FILE", help="write the results there (OUTDIR/results.json)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds that take turns (3)")
    parser.add_argument("--budget", type=float, default=540, metavar="SECONDS",
                        help="begin no new case after so long (540)")
    parser.add_argument("--case-limit", type=float, default=150, metavar="SECONDS",
                        help="end a case that takes longer (150)")
    parser.add_argument("--build-only", action="store_true", help="build all that would be run, and end")
    parser.add_argument("--built", action="store_true", help="OUTDIR has what --build-only made")
    parser.add_argument("--list", action="store_true", help="list the parts and end")
    parser.add_argument("--start", type=int, default=-1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.list and not given.outdir:
        parser.error("INGOT and OUTDIR are needed")
    given.json = given.json or f"{given.outdir}/results.json"
    return given


def build(given):
    """Builds what the chosen parts launch; returns the exit status."""
    failed = 0
    builders = [Builder(given.ingot, given.outdir, rules_only=given.rules_only), *others(given).values()]
    for file, kernel, arch in cases.kernels(given.only, given.family):
        for builder in builders:
            try:
                print(builder.built(file, kernel, arch), flush=True)
            except Failure as failure:
                print(f"{kernel} {arch}: FAILED: {failure}", flush=True)
                failed = 1
    for text in zoo.build(given.ingot, given.outdir) if "plan" in given.only else ():
        print(text, flush=True)
        failed = 1
    return failed


def watch(child, progress, limit):
    """Waits for the process; returns why it ended too early, or None."""
    while child.poll() is None:
        if time.time() - progress.read()["since"] > limit:
            child.kill()
            child.wait()
            return f"no end after {limit:.0f} s"
        time.sleep(0.2)
    return None if child.returncode in (0, cases.LOST) else f"ended with status {child.returncode}"


def supervise(given):
    """Runs processes until all cases had their turn; returns the exit status."""
    os.makedirs(given.outdir, exist_ok=True)
    progress, end, start = Progress(given.outdir), time.monotonic() + given.budget, 0
    Report(given.json).write()
    while True:
        progress.write(start, "start", "start")
        left = max(0.0, end - time.monotonic())
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), *sys.argv[1:],
                                  "--start", str(start), "--budget", str(left)])
        trouble, at = watch(child, progress, given.case_limit), progress.read()
        if trouble:
            Report(given.json, resume=True).failure(at["part"], at["case"], trouble)
        if child.returncode == 0 or at["case"] == "start":
            break
        start = at["index"] + 1
    return Report(given.json, resume=True).summary()


def main():
    given = arguments()
    if given.list:
        for name, part in cases.PARTS.items():
            print(f"{name:14} {part.text}")
        return 0
    if given.build_only:
        return build(given)
    if given.start < 0:
        return supervise(given)
    import session
    return session.run(given)


if __name__ == "__main__":
    sys.exit(main())
