"""Families of cases whose sizes are drawn from a seed, and what came of them together."""

import math
import random
from collections import namedtuple

from cases import Memory, Product

# `rows` are Products or Memory cases without sizes, drawn from in turn; `draw` gives the sizes of a case;
# `mean` and `tenth` are the geometric mean and the tenth percentile wanted of our speed over the best peer's,
# for what moves bytes over a copy's.
Family = namedtuple("Family", "name rows draw mean tenth")


def log_uniform(source, low, high):
    """A number whose logarithm is uniform."""
    return round(math.exp(source.uniform(math.log(low), math.log(high))))


def extents(source, low, high):
    """M, N and K: of ten products, three have odd extents, the others multiples of 8."""
    is_odd = source.random() < 0.3
    drawn = {name: log_uniform(source, low, high - 1) for name in "MNK"}
    return {name: extent | 1 if is_odd else max(low, extent // 8 * 8) for name, extent in drawn.items()}


def large(source):
    return extents(source, 512, 12288)


def small(source):
    return extents(source, 64, 1024)


def skinny(source):
    """M or N of 1 to 64, the other extents large."""
    sizes = extents(source, 512, 12288)
    return {**sizes, source.choice("MN"): source.randint(1, 64)}


def matrix(source):
    """A matrix of 2^20 to 2^28 elements whose rows have 256 to 65,536."""
    columns = log_uniform(source, 256, 65536)
    return {"m": max(1, log_uniform(source, 1 << 20, 1 << 28) // columns), "n": columns}


def product(file, kernel, peers, limit, arch="sm_90a"):
    return Product(file, kernel, arch, "", (), dict.fromkeys(peers, {}), limit)


# The largest error of a product of each of these types that counts as right.
HALF_LIMITS = {"f16": 1e-3, "bf16": 4e-3}
WAYS = ("nn", "nt", "tn", "tt")
BYTES = [product("gemm_8bit", f"gemm_{kind}_{way}", (peer if way == "nt" else f"{peer}_copied",), limit)
         for kind, peer, limit in (("e4m3", "scaled", 1e-2), ("i8", "integers", 0)) for way in WAYS]
HALVES = [product("gemm", f"gemm_{kind}_{way}", ("cublas",), limit)
          for kind, limit in HALF_LIMITS.items() for way in WAYS]
SINGLES = [product("sgemm", "sgemm", ("cublas",), 1e-5)]
SOFTMAX = [Memory("any", "softmax_online", "softmax_online", (), "softmax", 1e-5)]
SUMS = [Memory("any", "row_sum_by_schedule", kernel, (), definition, 1e-3)
        for kernel, definition in (("row_sum_block", "row_sum"), ("col_sum_parts", "col_sum"), ("sum_all", "total"))]
TRANSPOSES = [Memory("any", "transpose_tile", "transpose_tile", (), "transpose", 0)]

FAMILIES = (
    Family("products", HALVES + BYTES, large, 1.02, 0.93),
    Family("small products", HALVES + BYTES, small, 1.05, 0.90),
    Family("skinny products", HALVES, skinny, 1.05, 0.90),
    Family("f32 products", SINGLES, large, 1.02, 0.93),
    Family("rows", SOFTMAX, matrix, 0.90, 0.80),
    Family("sums", SUMS, matrix, 0.90, 0.80),
    Family("transposes", TRANSPOSES, matrix, 0.90, 0.80),
)


def cases(seed, count):
    """(family, row, sizes) of every case: the same for the same seed."""
    for family in FAMILIES:
        source = random.Random(f"{seed} {family.name}")
        for i in range(count):
            yield family, family.rows[i % len(family.rows)], family.draw(source)


def percentile(values, share):
    """The value that a share of the sorted values is below."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def summary(rows):
    """Lines about the families in rows of a report: geometric mean, tenth percentile, the worst ten."""
    for family in FAMILIES:
        found = [(row["ratio"], row["case"]) for row in rows if row.get("family") == family.name]
        if not found:
            continue
        ratios = [ratio for ratio, _ in found]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        tenth = percentile(ratios, 0.1)
        met = "ok" if mean >= family.mean and tenth >= family.tenth else "MISSED"
        yield (f"{family.name}: {len(found)} cases, geometric mean {mean:.3f} (wanted {family.mean}), tenth percentile "
               f"{tenth:.3f} (wanted {family.tenth}) {met}")
        for ratio, case in sorted(found)[:10]:
            yield f"    {ratio:.3f}  {case}"
