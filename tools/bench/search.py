#!/usr/bin/env python3
"""How much of whole spaces the search of `ingot tune` finds, in how many trials and seconds.

    tools/bench/search.py measure INGOT OUTDIR    # on a GPU: every point of each space, once
    tools/bench/search.py live INGOT OUTDIR       # on a GPU: the search itself, with its curve
    tools/bench/search.py seeds INGOT OUTDIR      # on a GPU: the searches of the seeds 000 and 004
    tools/bench/search.py replay INGOT OUTDIR     # anywhere: the table, from the logs of `measure`
    tools/bench/search.py points INGOT OUTDIR     # anywhere: each point with its prediction, from the same

A space is a kernel file of `spaces/` at the sizes of a line `// space:`; the last is the template of seed 004.
`replay` searches with many seeds by tests/tune/agent.py: what the log has is not measured again, nor compiled, so a
search takes the times that the device gave.
"""

import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = f"{HERE}/../../tests/kernels"
AGENT = f"{HERE}/../../tests/tune/agent.py"
TEMPLATE = f"{KERNELS}/seeds/004_dwconv_template.ing"
HAND = f"{KERNELS}/seeds/000_matmul_1024.ing"

# After so many trials the best is looked at, with the least mean over kernels and seeds that is wanted, or None.
TRIALS = {4: 0.96, 16: 0.99, 24: None}
# What the worst kernel is to reach in 16 trials.
WORST = 0.93
# A budget that no ranking exhausts, whatever the machine.
NO_HURRY = "6000s"
# As many trials as no space has points.
EVERY = 100000

# A space: its name, its file, its sizes as the command takes them.
Space = namedtuple("Space", "name file size")


def spaces(folder, match):
    """The spaces of a folder, and the template of seed 004 if that is the usual one."""
    found = []
    for file in sorted(glob.glob(f"{folder or f'{HERE}/spaces'}/*.ing")):
        with open(file, encoding="utf-8") as text:
            sizes = re.findall(r"^// space: (.*\S)", text.read(), re.M)
        stem = os.path.basename(file)[:-4]
        found += [Space("_".join([stem, *re.findall(r"=(\d+)", size)]), file, size.replace(" ", ",")) for size in sizes]
    found += [] if folder else [Space("depthwise_004", TEMPLATE, "")]
    return [space for space in found if match in space.name]


def tune(ingot, file, *options):
    """The first result of `ingot tune --json` beside a file; raises CalledProcessError."""
    said = subprocess.run([ingot, "tune", os.path.basename(file), "--json", *options], cwd=os.path.dirname(file),
                          check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(said.stdout)[0]


def options_of(space, given):
    """What the command is told of a space and of the agent."""
    return [*(["--size", space.size] if space.size else []), *(["--cross", given.cross] if given.cross else [])]


def copy_of(space, folder):
    """A copy of a space's file in a folder of its own, without what was measured before."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return shutil.copy(space.file, f"{folder}/{space.name}.ing")


def keep(result, folder):
    with open(f"{folder}/result.json", "w", encoding="utf-8") as out:
        json.dump(result, out, indent=1)


def measure(given):
    """Measures each point of each space; logs and results go to OUTDIR/whole."""
    for space in spaces(given.spaces, given.match):
        folder = f"{given.outdir}/whole/{space.name}"
        result = tune(given.ingot, copy_of(space, folder), "--effort", "exhaustive", *options_of(space, given))
        keep(result, folder)
        print(f"{space.name}: {result['points']} points, {result['seconds']:.0f} s", flush=True)


def live(given):
    """Searches each space as a user does; results, with their curves, go to OUTDIR/live."""
    for space in spaces(given.spaces, given.match):
        folder = f"{given.outdir}/live/{space.name}"
        result = tune(given.ingot, copy_of(space, folder), "--trials", "16", *options_of(space, given))
        keep(result, folder)
        steps = ", ".join(f"{one['trials']}: {one['microseconds']:.2f} us at {one['seconds']:.1f} s"
                          for one in result["curve"])
        print(f"{space.name}: {result['seconds']:.1f} s for 16 trials; {steps or 'nothing is faster'}", flush=True)


def seeds(given):
    """The searches of the seeds: 000's GEMM from its definition beside the seed's hand schedule, 004's template."""
    hand = copy_of(Space("hand", HAND, ""), f"{given.outdir}/seeds/hand")
    alone = copy_of(Space("alone", HAND, ""), f"{given.outdir}/seeds/alone")
    agent = ["--cross", given.cross] if given.cross else []
    by_hand = tune(given.ingot, hand, "--kernel", "shared_1024", "--trials", "1", *agent)["build"]["microseconds"]
    found = tune(given.ingot, alone, "--kernel", "shared_1024", "--rules-only", "--trials", "16", *agent)
    best = min([found["build"], *([found["best"]] if found["best"] else [])], key=lambda one: one["microseconds"])
    print(f"000: by hand {by_hand:.2f} us, from the definition {best['microseconds']:.2f} us in {found['seconds']:.1f} s, "
          f"{by_hand / best['microseconds']:.2f} times as fast", flush=True)
    template = copy_of(Space("template", TEMPLATE, ""), f"{given.outdir}/seeds/template")
    result = tune(given.ingot, template, "--trials", "24", *agent)
    print(f"004: {result['best']['microseconds']:.2f} us in 24 trials of {result['points']} points, "
          f"{result['seconds']:.1f} s", flush=True)


# ---- Replays

def records(text):
    """Per text of a schedule its last measured ratio in a log, and how many were refused; the device."""
    ratios, refused, device = {}, set(), None
    for line in text.splitlines():
        where, _, facts = line.partition(" : ")
        device = re.search(r' on ("[^"]*"|\S+) ', where).group(1).strip('"')
        if " build " in where.split(device)[1]:
            continue
        key = re.search(r"text=(\w+)", facts).group(1)
        ratio = re.search(r"ratio=(\S+)", facts)
        if ratio and "state=measured" in facts:
            ratios[key] = float(ratio.group(1))
        else:
            refused.add(key)
    return ratios, len(refused), device


def replay_one(given, space, seed, trials=max(TRIALS)):
    """The trials of a search that takes its times from the log, in order."""
    folder = f"{given.outdir}/replay/{space.name}/{seed}"
    file = copy_of(space, folder)
    with open(f"{given.outdir}/whole/{space.name}/{space.name}.tuned.log", encoding="utf-8") as log:
        text = log.read()
    with open(f"{file[:-4]}.tuned.log", "w", encoding="utf-8") as log:
        log.write(re.sub(r"\bturns=\d+", "turns=1000", text))
    agent = shlex.join(["exec", sys.executable, AGENT, "--device", records(text)[2]]).replace("'exec'", "exec")
    result = tune(given.ingot, file, "--trials", str(trials), "--seed", str(seed), "--budget", NO_HURRY,
                  "--jobs", str(given.jobs), "--reference", "none", "--cross", agent,
                  *(["--size", space.size] if space.size else []))
    return result["trials"]


def ratios_of(trials):
    """Of trials those that were measured: their ratios."""
    return [one["ratio"] for one in trials if one["state"] == "measured"]


def points(given):
    """Writes each point of each space as a line, for tests/unit/tune_spaces.c: its schedule's number, the microseconds
    that are predicted, its measured ratio or 0, the values of its knobs; go to OUTDIR/points."""
    os.makedirs(f"{given.outdir}/points", exist_ok=True)
    for space in spaces(given.spaces, given.match):
        trials = [one for one in replay_one(given, space, 1, EVERY) if one["predicted"]]
        with open(f"{given.outdir}/points/{space.name}.txt", "w", encoding="utf-8") as out:
            for one in sorted(trials, key=lambda one: one["schedule"]):
                number, *values = re.findall(r"\b\d+\b", one["schedule"])
                ratio = one["ratio"] if one["state"] == "measured" else 0
                out.write(" ".join([number, f"{one['predicted']:.4g}", f"{ratio:.4g}", *values]) + "\n")
        print(f"{space.name}: {len(trials)} points", flush=True)


def replay(given):
    """Prints how much of the best of each space a search has after some trials."""
    print("| space | points | refused | "
          + " | ".join(f"{n} trials: mean, worst seed" for n in TRIALS) + " |\n|" + " --- |" * (3 + len(TRIALS)))
    means = {n: [] for n in TRIALS}
    for space in spaces(given.spaces, given.match):
        with open(f"{given.outdir}/whole/{space.name}/{space.name}.tuned.log", encoding="utf-8") as log:
            ratios, refused, _ = records(log.read())
        best, cells = min(ratios.values()), []
        with ThreadPoolExecutor(given.at_once) as pool:
            runs = list(pool.map(lambda seed: ratios_of(replay_one(given, space, seed)), range(1, given.seeds + 1)))
        for n in TRIALS:
            parts = [best / min(run[:n]) for run in runs]
            means[n].append(sum(parts) / len(parts))
            cells.append(f"{means[n][-1]:.3f}, {min(parts):.3f}")
        print(f"| {space.name} | {len(ratios) + refused} | {refused} | " + " | ".join(cells) + " |", flush=True)
    for n, wanted in TRIALS.items():
        if means[n]:
            print(f"{n} trials: mean {sum(means[n]) / len(means[n]):.3f}, worst kernel {min(means[n]):.3f}"
                  + (f"; wanted {wanted}" if wanted else "") + (f", {WORST}" if n == 16 else ""))


def main():
    parser = argparse.ArgumentParser(description="How much of whole spaces the search of `ingot tune` finds.")
    parser.add_argument("what", choices=("measure", "live", "seeds", "replay", "points"))
    parser.add_argument("ingot", type=os.path.abspath)
    parser.add_argument("outdir", type=os.path.abspath)
    parser.add_argument("--match", default="", metavar="TEXT", help="only spaces whose name has it")
    parser.add_argument("--spaces", metavar="DIR", help="the files of another folder")
    parser.add_argument("--cross", metavar="COMMAND", help="the agent that measures")
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds are replayed (20)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that rank for one seed (1)")
    parser.add_argument("--at-once", type=int, default=os.cpu_count(), help="seeds that run at once (one a processor)")
    given = parser.parse_args()
    {"measure": measure, "live": live, "seeds": seeds, "replay": replay, "points": points}[given.what](given)


if __name__ == "__main__":
    main()
