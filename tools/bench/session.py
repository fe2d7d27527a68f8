"""The process that measures: all cases of the chosen parts, one after the other."""

import importlib
import time
from dataclasses import dataclass

import torch

from artifact import Builder, others
from cases import LOST, PARTS
from report import Progress, Report, clocks, versions


@dataclass
class Session:
    """What a case needs: how to build, where results go, how many rounds, the files with
    other schedules, how others build the same files (by name), and whether peers are
    measured."""

    builder: Builder
    report: Report
    rounds: int
    beside: list
    others: dict
    has_peers: bool


class Hang(Exception):
    """A kernel that does not end."""


def settle(seconds=10):
    """Waits for the device; a kernel that does not end is a Hang."""
    event = torch.cuda.Event()
    event.record()
    end = time.monotonic() + seconds
    while not event.query():
        if time.monotonic() > end:
            raise Hang(f"no end after {seconds} s")
        time.sleep(0.0005)


def device_is_lost():
    """Whether an error has made the device unusable for this process."""
    try:
        torch.cuda.synchronize()
        return torch.ones(4, device="cuda").sum().item() != 4
    except Exception:
        return True


def all_cases(given):
    """(part, name of the case, function of the session) of every case."""
    for part in given.only:
        for name, measure in importlib.import_module(f"parts.{PARTS[part].module}").cases(part, given):
            if given.match in name:
                yield part, name, measure


def run(given):
    """Measures from the case `given.start` on; returns the exit status."""
    end = time.monotonic() + given.budget
    report = Report(given.json, resume=given.start > 0)
    if given.start == 0:
        report.describe(versions())
    torch.manual_seed(1)
    builder = Builder(given.ingot, given.outdir, keep=given.built or given.start > 0,
                      rules_only=given.rules_only)
    work = Session(builder, report, given.rounds, given.beside, others(given, builder.keep), not given.no_peers)
    progress = Progress(given.outdir)
    for index, (part, name, measure) in enumerate(all_cases(given)):
        if index < given.start:
            continue
        if time.monotonic() > end:
            report.leave_out(part, name)
            continue
        progress.write(index, part, name)
        try:
            measure(work)
        except Exception as error:
            report.failure(part, name, f"{type(error).__name__}: {error}")
            if isinstance(error, Hang) or device_is_lost():
                progress.leave(LOST)
        torch.cuda.empty_cache()
    report.describe({f"{name} after": value for name, value in clocks().items()})
    return 0
