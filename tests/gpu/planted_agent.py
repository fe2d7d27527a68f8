#!/usr/bin/env python3
"""Stands between `ingot tune` and its agent on a GPU, and plants faults in candidates.

    planted_agent.py RULES FOLDER AGENT...

Each line of RULES has a regular expression and, behind a blank, the fault of a schedule whose text it matches: hang,
fault, wrong or crash. FOLDER has a cubin of the same kernel for each of the first three, which goes to the agent
instead of the candidate's. Everything else passes unchanged.
"""

import json
import os
import re
import signal
import subprocess
import sys


def fate_of(request):
    """Return the fault of a request, or None."""
    text = request.get("way", {}).get("schedule") or ""
    with open(sys.argv[1], encoding="utf-8") as lines:
        for pattern, fault in (line.rstrip("\n").rsplit(" ", 1) for line in lines if line.strip()):
            if re.search(pattern, text, re.S):
                return fault
    return None


def planted(request, cubin):
    """Return the request and the cubin that go to the agent; ends both for a crash."""
    fault = fate_of(request)
    if fault == "crash":
        agent.kill()
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault:
        with open(f"{sys.argv[2]}/{fault}.cubin", "rb") as file:
            cubin = file.read()
        request["cubin"] = len(cubin)
    return request, cubin


agent = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
while answer := agent.stdout.readline():
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    if "phase" in json.loads(answer):
        continue
    if not (line := sys.stdin.buffer.readline()):
        break
    asked = json.loads(line)
    asked, body = planted(asked, sys.stdin.buffer.read(asked.get("cubin", 0)))
    agent.stdin.write(json.dumps(asked).encode() + b"\n" + body)
    agent.stdin.flush()
agent.stdin.close()
sys.exit(agent.wait())
