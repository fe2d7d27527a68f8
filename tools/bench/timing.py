"""How times are taken: events around launches of works that take turns.

A work is a list of functions that do the same on different data, so that what one
leaves in the cache is not what the next one reads.
"""

import random
import statistics
import time

import torch

IDLE_SECONDS = 0.3
SUSTAINED_SECONDS = 0.4
WARM, LAUNCHES = 5, 20
SHORTEST_MS = 0.1
CYCLES_TO_QUEUE = 200_000


def sets(count, cache=256 << 20, most=16):
    """How many copies of `count` bytes do not fit into any cache."""
    return max(1, min(most, -(-cache // max(1, count))))


def between_events(work, times, first=0, delay=True):
    """Milliseconds of one call among `times`, from the `first` on, queued behind a delay."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if delay:
        torch.cuda._sleep(CYCLES_TO_QUEUE * (times + 1))
    start.record()
    for i in range(times):
        work[(first + i) % len(work)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / times


def repeats(work):
    """How many calls last long enough for events, by a few trial calls."""
    between_events(work, 2)
    ms = between_events(work, 3)
    return max(1, min(32, round(SHORTEST_MS / max(ms, 1e-4)))), ms


def cool_ms(work, times):
    """Idle, warm up, then the median of launches each of which is waited for."""
    torch.cuda.synchronize()
    time.sleep(IDLE_SECONDS)
    for i in range(WARM):
        work[i % len(work)]()
    return statistics.median(between_events(work, times, WARM + i * times) for i in range(LAUNCHES))


def sustained_ms(work, ms, seconds):
    """The mean of launches back to back for so long."""
    return between_events(work, max(3, min(20000, int(seconds * 1000 / ms))), delay=False)


def shuffled_rounds(works, rounds, measure):
    """Per work the results of `measure(name)`, in rounds whose order is shuffled."""
    rows = {name: [] for name in works}
    for _ in range(rounds):
        for name in random.sample(list(works), len(works)):
            rows[name].append(measure(name))
    return rows


def cool(works, rounds):
    """Per work (a dict) the milliseconds of each round, cool."""
    times = {name: repeats(work)[0] for name, work in works.items()}
    return shuffled_rounds(works, rounds, lambda name: cool_ms(works[name], times[name]))


def brief(works, rounds):
    """Per work the milliseconds of each round, some launches after the others."""
    times = {name: repeats(work)[0] for name, work in works.items()}
    for name, work in works.items():
        between_events(work, WARM)
    return shuffled_rounds(works, rounds, lambda name: between_events(works[name], 4 * times[name]))


def sustained(works, rounds, seconds=SUSTAINED_SECONDS):
    """Per work the milliseconds of each round, back to back."""
    ms = {name: repeats(work)[1] for name, work in works.items()}
    return shuffled_rounds(works, rounds, lambda name: sustained_ms(works[name], ms[name], seconds))


def ratio(rows, ours, theirs):
    """Our speed over theirs: the median of the rounds' ratios, and its range."""
    pairs = [t / o for o, t in zip(rows[ours], rows[theirs])]
    return statistics.median(pairs), min(pairs), max(pairs)


def graph(work, times):
    """A work that replays `times` calls captured in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in work:
            call()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        for i in range(times):
            work[i % len(work)]()
    return [captured.replay]
