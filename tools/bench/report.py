"""Results as they come: one line each on the standard output, all of them in JSON."""

import json
import os
import statistics
import subprocess
import sys
import time

import drawn
import zoo


def clocks():
    """What nvidia-smi says of the device now: driver, clocks, power, temperature."""
    query = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,power.limit,temperature.gpu"
    try:
        answer = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
                                capture_output=True, text=True, timeout=30).stdout
    except OSError:
        answer = ""
    return dict(zip(query.split(","), (f.strip() for f in answer.split(","))))


def versions():
    """What is measured, on what, beside what."""
    import torch
    try:
        import triton
        beside = triton.__version__
    except ImportError:
        beside = "absent"
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "device": torch.cuda.get_device_name(),
        "sms": torch.cuda.get_device_properties(0).multi_processor_count,
        "torch": torch.__version__, "cuda": torch.version.cuda, "triton": beside, **clocks(),
    }


class Progress:
    """Which case is running, for the process that watches."""

    def __init__(self, folder):
        self.path = f"{folder}/progress.json"

    def write(self, index, part, case):
        save(self.path, {"index": index, "part": part, "case": case, "since": time.time()})

    def read(self):
        with open(self.path) as file:
            return json.load(file)

    def leave(self, status):
        """Ends the process at once, without waiting for a device that may be lost."""
        sys.stdout.flush()
        os._exit(status)


def save(path, value):
    """Writes JSON; whoever reads sees the old text or the new."""
    with open(f"{path}.new", "w") as file:
        json.dump(value, file, indent=1, default=str)
    os.replace(f"{path}.new", path)


class Report:
    """Prints rows, keeps them, and writes them all to a file after each."""

    def __init__(self, path, resume=False):
        self.path, self.began = path, time.time()
        self.facts, self.rows = {}, []
        if resume:
            with open(path) as file:
                old = json.load(file)
            self.facts, self.rows, self.began = old["facts"], old["rows"], old["began"]

    def describe(self, facts):
        self.facts.update(facts)
        self.say(", ".join(f"{k} {v}" for k, v in facts.items()))
        self.write()

    def say(self, text):
        print(f"[{time.time() - self.began:6.1f}] {text}", flush=True)

    def row(self, part, case, text, **values):
        """One result: `text` for people, `values` for programs."""
        self.rows.append({"part": part, "case": case, **values})
        self.say(f"{case}: {text}")
        self.write()

    def failure(self, part, case, text):
        self.rows.append({"part": part, "case": case, "failed": text})
        self.say(f"{case}: FAILED: {text[:1500]}")
        self.write()

    def leave_out(self, part, case):
        """Notes a case for which there was no time."""
        self.rows.append({"part": part, "case": case, "left out": True})

    def write(self):
        save(self.path, {"facts": self.facts, "began": self.began, "rows": self.rows})

    def summary(self):
        """Prints every ratio, with its goal where it has one; 1 if there are failures."""
        for row in self.rows:
            for peer, value in row.get("ratios", {}).items():
                goal = row.get("goals", {}).get(peer)
                verdict = "" if goal is None else f"  goal {goal:.2f} " + ("ok" if value >= goal else "MISSED")
                print(f"{row['case']:44} / {peer:14} {value:7.4f}{verdict}")
        for line in (*drawn.summary(self.rows), *zoo.summary(self.rows)):
            print(line)
        failed = [r["case"] for r in self.rows if "failed" in r]
        late = [r["case"] for r in self.rows if "left out" in r]
        print(f"{len(self.rows) - len(failed) - len(late)} results")
        if late:
            print(f"{len(late)} left out, the time was up: {', '.join(late)}")
        print(f"{len(failed)} failures{': ' if failed else ''}{', '.join(failed)}", flush=True)
        return 1 if failed else 0


def median_ms(rows, name):
    return statistics.median(rows[name])
