"""Families of cases whose sizes are drawn from a seed, and what came of them together."""

import math
import random
from collections import Counter, namedtuple

from cases import Memory, Product

# `rows` are Products or Memory cases without sizes, drawn from in turn; `draw` gives the sizes of a case;
# `goals` has, for each peer, the geometric mean and the tenth percentile (None: any) wanted of our speed over the
# peer's. `best` is the fastest of those that compute the same, `copy` a copy of as many bytes.
Family = namedtuple("Family", "name rows draw goals")
# So many cases of a family have torch.compile among their peers, which compiles for each of them.
COMPILED = 60


def log_uniform(source, low, high):
    """A number whose logarithm is uniform."""
    return round(math.exp(source.uniform(math.log(low), math.log(high))))


def extents(source, low, high, factor):
    """M, N and K: of ten products, three have odd extents, the others multiples of `factor`."""
    is_odd = source.random() < 0.3
    drawn = {name: log_uniform(source, low, high - 1) for name in "MNK"}
    return {name: extent | 1 if is_odd else max(low, extent // factor * factor) for name, extent in drawn.items()}


def large(source, factor=8):
    return extents(source, 512, 12288, factor)


def large_bytes(source):
    return large(source, 16)


def small(source, factor=8):
    return extents(source, 64, 1024, factor)


def small_bytes(source):
    return small(source, 16)


def skinny(source):
    """M or N of 1 to 64, the other extents large."""
    sizes = extents(source, 512, 12288, 8)
    return {**sizes, source.choice("MN"): source.randint(1, 64)}


def matrix(source):
    """A matrix of 2^20 to 2^28 elements whose rows have 256 to 65,536."""
    columns = log_uniform(source, 256, 65536)
    return {"m": max(1, log_uniform(source, 1 << 20, 1 << 28) // columns), "n": columns}


def vector(source):
    return {"n": log_uniform(source, 1 << 20, 1 << 29)}


def product(file, kernel, peers, limit, arch="sm_90a"):
    return Product(file, kernel, arch, "", (), dict.fromkeys(peers, {}), limit)


def mover(file, kernel, definition, limit):
    return Memory("any", file, kernel, (), definition, limit)


# The largest error of a product of each of these types that counts as right.
HALF_LIMITS = {"f16": 1e-3, "bf16": 4e-3}
WAYS = ("nn", "nt", "tn", "tt")
BYTES = [product("gemm_8bit", f"gemm_{kind}_{way}", (f"{peer}_copied",), limit)
         for kind, peer, limit in (("e4m3", "scaled", 1e-2), ("i8", "integers", 0)) for way in WAYS]
HALVES = [product("gemm", f"gemm_{kind}_{way}", ("cublas",), limit)
          for kind, limit in HALF_LIMITS.items() for way in WAYS]
SINGLES = [product("sgemm", f"sgemm_{way}", ("cublas",), 1e-5) for way in WAYS]
ROWS = [mover(file, f"{definition}_{kind}", definition, limit)
        for definition, file in (("softmax", "rows_softmax"), ("layer_norm", "rows_norm"), ("rms_norm", "rows_norm"))
        for kind, limit in (("f32", 1e-5), *HALF_LIMITS.items())]
SUMS = [mover("row_sum_by_schedule", kernel, definition, 1e-3)
        for kernel, definition in (("row_sum_block", "row_sum"), ("col_sum_parts", "col_sum"), ("sum_all", "total"))]
TRANSPOSES = [mover("transpose_tile", "transpose_tile", "transpose", 0)]
VECTORS = [mover("vadd", "vadd", "add", 1e-7)]

LARGE, SMALL, MOVED = (1.02, 0.93), (1.05, 0.90), (0.90, 0.80)
FAMILIES = (
    Family("products", HALVES, large, {"best": LARGE}),
    Family("8-bit products", BYTES, large_bytes, {"best": LARGE}),
    Family("small products", HALVES, small, {"best": SMALL}),
    Family("small 8-bit products", BYTES, small_bytes, {"best": SMALL}),
    Family("skinny products", HALVES, skinny, {"best": SMALL}),
    Family("f32 products", SINGLES, large, {"best": LARGE}),
    Family("rows", ROWS, matrix, {"copy": MOVED, "compiled": (1.3, 1.0)}),
    Family("sums", SUMS, matrix, {"copy": MOVED}),
    Family("transposes", TRANSPOSES, matrix, {"copy": MOVED}),
    Family("vectors", VECTORS, vector, {"copy": MOVED}),
)


def cases(seed, count, only=""):
    """(family, row, sizes) of every case of the families whose name has `only`: the same for the same seed."""
    for family in (f for f in FAMILIES if only in f.name):
        source = random.Random(f"{seed} {family.name}")
        for i in range(count):
            yield family, family.rows[i % len(family.rows)], family.draw(source)


def percentile(values, share):
    """The value that a share of the sorted values is below."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def said(name, peer, wanted, found):
    """Lines about our speed over a peer's in a family, of (ratio, case): means, and the worst ten."""
    ratios = [ratio for ratio, _ in found]
    values = math.exp(sum(map(math.log, ratios)) / len(ratios)), percentile(ratios, 0.1)
    texts = [f"{value:.3f}" + (f" (wanted {least})" if least else "") for value, least in zip(values, wanted)]
    met = " ok" if all(value >= (least or 0) for value, least in zip(values, wanted)) else " MISSED"
    yield (f"{name} over {peer}: {len(found)} cases, geometric mean {texts[0]}, tenth percentile {texts[1]}"
           f"{met if any(wanted) else ''}")
    if any(wanted) or peer == "best":
        for ratio, case in sorted(found)[:10]:
            yield f"    {ratio:.3f}  {case}"


def absences(name, measured):
    """Lines about the peers of a family that did not run, and why the first time."""
    absent = [(peer, why) for row in measured for peer, why in row.get("absent", {}).items()]
    for peer, count in Counter(peer for peer, _ in absent).items():
        yield f"{name}: {peer} not run in {count} cases: {dict(reversed(absent))[peer]}"


def summary(rows):
    """Lines about the families in rows of a report, peer by peer; cases that no peer computes are counted."""
    for family in FAMILIES:
        measured = [row for row in rows if row.get("family") == family.name]
        for peer in dict.fromkeys([*family.goals, *(peer for row in measured for peer in row["speeds"])]):
            found = [(row["speeds"][peer], row["case"]) for row in measured if peer in row["speeds"]]
            if found:
                yield from said(family.name, peer, family.goals.get(peer, (None, None)), found)
            if peer in family.goals and len(found) < len(measured):
                yield f"{family.name}: {len(measured) - len(found)} cases without {peer}"
        yield from absences(family.name, measured)
