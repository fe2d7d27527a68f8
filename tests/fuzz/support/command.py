"""The command line of fuzzers whose cases the tool fuzz_values runs: it draws
them in batches, in several processes, judges what the tool says, and keeps what
fails."""

import argparse
import collections
import functools
import json
import multiprocessing
import os
import subprocess
import time

BATCH = 40
SHOWN = 20  # failures


def run_tool(tool, cases):
    """What the tool says of each case; None for one that ends it."""
    done = []
    while len(done) < len(cases):
        left = json.dumps(cases[len(done):])
        ran = subprocess.run([tool], input=left, capture_output=True, text=True)
        done += [json.loads(line) for line in ran.stdout.splitlines()]
        if len(done) < len(cases):
            done.append(None)
    return done


def judged(judge, given, said):
    """An outcome and its reason; what stops the judge is a failure."""
    try:
        return judge(given, said)
    except Exception as error:
        return "failed", f"the judge stops: {error!r}"


def batch(draw, judge, tool, seed, task):
    """Run some cases; returns how many came out how, and what failed."""
    cases = [draw(seed, number) for number in task]
    counts, failures = collections.Counter(), []
    for number, given, said in zip(task, cases, run_tool(tool, cases)):
        outcome, detail = judged(judge, given, said)
        counts[outcome] += 1
        if outcome == "failed":
            failures.append((number, detail, given))
        elif detail:
            counts[f"{outcome}: {detail}"] += 1
    return counts, failures


def keep(o, number, detail, given):
    """Write and show a case that failed."""
    if o.out:
        os.makedirs(o.out, exist_ok=True)
        with open(os.path.join(o.out, f"{o.seed}-{number}.json"), "w") as out:
            json.dump(dict(given, detail=detail), out, indent=1)
    if o.shown < SHOWN:
        o.shown += 1
        print(f"---- seed {o.seed}, case {number}: {detail}\n{given['text']}"
              f"// {given['sizes']}, {given['target']}", flush=True)


def campaign(o, draw, judge, summary):
    """Run cases, or as many as the time allows; the exit status."""
    began, counts, o.shown = time.monotonic(), collections.Counter(), 0
    end = o.first + o.cases
    tasks = [range(at, min(at + BATCH, end)) for at in range(o.first, end, BATCH)]
    run = functools.partial(batch, draw, judge, o.tool, o.seed)
    with multiprocessing.Pool(o.jobs) as pool:
        for some, failures in pool.imap_unordered(run, tasks):
            counts += some
            for failure in failures:
                keep(o, *failure)
            if o.until and time.monotonic() - began > o.until:
                break
    for outcome, n in counts.most_common():
        if ":" in outcome:
            print(f"{n:6} {outcome}")
    ran = sum(n for outcome, n in counts.items() if ":" not in outcome)
    print(f"{ran} cases of {o.cases} in {time.monotonic() - began:.1f} s")
    return 0 if summary(counts) else 1


def check_files(o, judge):
    """Judge files that `keep` has written; the exit status."""
    status = 0
    for name in o.files:
        with open(name) as text:
            given = json.load(text)
        outcome, detail = judged(judge, given, run_tool(o.tool, [given])[0])
        print(f"{name}: {outcome} {detail}")
        status |= outcome == "failed"
    return status


def main(doc, draw, judge, summary):
    """draw(seed, number) is a case, judge(case, answer) an outcome and a reason,
    summary(counts) prints what came of all, and whether that is good."""
    words = argparse.ArgumentParser(description=doc.splitlines()[0])
    words.add_argument("--tool", required=True)
    for name, default in (("seed", 1), ("first", 0), ("cases", 1000), ("jobs", 2),
                          ("until", 0)):
        words.add_argument("--" + name, type=int, default=default)
    words.add_argument("--out")
    words.add_argument("--print", action="store_true")
    words.add_argument("files", nargs="*")
    o = words.parse_args()
    if o.files:
        return check_files(o, judge)
    if not o.print:
        return campaign(o, draw, judge, summary)
    for number in range(o.first, o.first + o.cases):
        given = draw(o.seed, number)
        print(f"{given['text']}// {given['sizes']}, {given['target']}\n")
    return 0
