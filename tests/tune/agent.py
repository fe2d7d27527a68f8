#!/usr/bin/env python3
"""An agent for `ingot tune` without a GPU, for tests: it makes up times.

    agent.py [--rules FILE] [--noise PERCENT] [--seed N] [--delay SECONDS] [--count FILE]
             [--device NAME] [--parent N] [--greeting SECONDS] [--problem SECONDS] [--phases] [--early]

Each line of the rules has a regular expression and, behind a blank, what becomes of a
schedule whose text it matches: a number of microseconds, or wrong, fault, crash, hang,
garbage, or one of FATES. The last line that matches counts; without any it is 100. What a
build takes is matched as `build NAME`. FILE of --count gets a line for each measurement.
The N-th measurement kills the process that started the agent. It sleeps for --greeting
before it says what it is, beside that for --problem before it takes a problem, for --delay
before each measurement. With --phases it says what it does meanwhile, as `ingot agent` does; with --early
whether the problem came before it had said what it is.
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--rules")
parser.add_argument("--noise", type=float, default=0)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--delay", type=float, default=0)
parser.add_argument("--count")
parser.add_argument("--parent", type=int, default=0)
parser.add_argument("--reference", default="eval")
parser.add_argument("--version", default="0.1.0")
parser.add_argument("--device", default="Stub GPU")
parser.add_argument("--greeting", type=float, default=0)
parser.add_argument("--problem", type=float, default=0)
parser.add_argument("--phases", action="store_true")
parser.add_argument("--early", action="store_true")
options = parser.parse_args()
draw = random.Random(options.seed)


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


# What is said of phases, (which, processor seconds, seconds until the next), and the microseconds behind it: checks that
# take long beside a GPU that does little; that use too much; that do nothing; a GPU that does not end.
FATES = {"slow": ([("host", 0.1 * i, 0.4) for i in range(8)] + [("gpu", 0.8, 0.1), ("host", 0.8, 0)], 400),
         "spins": ([("host", 1000, 1000)], 0),
         "idles": ([("host", 0, 1000)], 0),
         "stuck": ([("host", 0, 0), ("gpu", 0, 1000)], 0)}


def pass_through(phases):
    """Say each phase, and wait."""
    for phase, used, seconds in phases:
        say({"phase": phase, "used": used})
        time.sleep(seconds)


def rules():
    """Return the pairs of the rules."""
    if not options.rules:
        return []
    with open(options.rules, encoding="utf-8") as lines:
        return [line.rstrip("\n").rsplit(" ", 1) for line in lines if line.strip()]


def fate_of(text):
    """Return what becomes of a schedule."""
    fate = "100"
    for pattern, value in rules():
        if re.search(pattern, text, re.S):
            fate = value
    return fate


def noisy(us):
    return us * (1 + options.noise / 100 * draw.uniform(-1, 1))


def measure(request):
    """Answer a measurement."""
    options.parent -= 1
    if options.parent == 0:
        os.kill(os.getppid(), signal.SIGKILL)
    way = request["way"]
    text = way["schedule"] if way["kind"] == "schedule" else f"{way['kind']} {way['variant']}"
    fate, base = fate_of(text), noisy(float(fate_of("build ")))
    if options.count:
        with open(options.count, "a", encoding="utf-8") as out:
            out.write(" ".join(text.split()) + "\n")
    if options.phases:
        say({"phase": "host", "used": 0})
    time.sleep(options.delay)
    if fate in FATES:
        phases, fate = FATES[fate]
        pass_through(phases)
    if fate == "hang":
        time.sleep(1000)
    if fate == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fate == "garbage":
        print("garbage", flush=True)
        return
    if fate in ("wrong", "fault"):
        say({"state": fate, "why": "planted"})
        if fate == "fault":
            sys.exit(0)
        return
    us = noisy(float(fate))
    say({"state": "measured", "us": us, "base": base, "ratio": us / base,
         "spread": options.noise / 100, "turns": request["turns"]})




def greet():
    """Say what the GPU is, when the driver is open."""
    time.sleep(options.greeting)
    say({"agent": 2, "version": options.version, "device": options.device, "sm": 90, "sms": 132,
         "gpus": 1, "driver": 13000, "memory": 1 << 36})


opening = threading.Thread(target=greet, daemon=True)
opening.start()
while line := sys.stdin.buffer.readline():
    asked = json.loads(line)
    assert len(sys.stdin.buffer.read(asked.get("cubin", 0))) == asked.get("cubin", 0)
    if asked["do"] == "problem":
        came = (" before the greeting" if opening.is_alive() else " behind the greeting") if options.early else ""
        time.sleep(options.problem)
        opening.join()
        say({"ok": True, "reference": options.reference + came})
    elif asked["do"] == "measure":
        measure(asked)
    else:
        break
