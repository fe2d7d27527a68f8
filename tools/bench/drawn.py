"""Families of cases whose sizes are drawn from a seed, and what came of them together."""

import math
import os
import random
from collections import Counter, namedtuple

from cases import Memory, Product

# `rows` are Products or Memory cases without sizes, drawn from in turn; `draw` gives the sizes of a case;
# `goals` has, for each peer, the geometric mean and the tenth percentile (None: any) wanted of our speed over the
# peer's. `best` is the fastest of those that compute the same, `copy` a copy of as many bytes.
Family = namedtuple("Family", "name rows draw goals")
# So many cases of a family have torch.compile among their peers, which compiles for each of them.
COMPILED = 60
# The geometric mean and the tenth percentile wanted of the speed of rules alone over that of the files' schedules.
SCHEDULES = (0.93, 0.85)


def log_uniform(source, low, high):
    """A number whose logarithm is uniform."""
    return round(math.exp(source.uniform(math.log(low), math.log(high))))


def extents(source, low, high, factor, names="MNK"):
    """M, N and K: of ten products, three have odd extents, the others multiples of `factor`."""
    is_odd = source.random() < 0.3
    drawn = {name: log_uniform(source, low, high - 1) for name in names}
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


def shorter_vector(source):
    return {"n": log_uniform(source, 1 << 20, 1 << 28)}


def matrix_and_vector(source):
    return extents(source, 2048, 16384, 8, "mn")


def images(source):
    """Images, at most 256 of them and as many as have 2^20 to 2^26 elements together; three in ten are no squares."""
    high, channels = log_uniform(source, 7, 224), log_uniform(source, 16, 512)
    wide = log_uniform(source, 7, 224) if source.random() < 0.3 else high
    count = log_uniform(source, 1 << 20, 1 << 26) // (channels * high * wide)
    return {"B": min(256, max(1, count)), "C": channels, "H": high, "W": wide}


def gather(source):
    """Of a matrix of 2^20 to 2^27 elements whose rows have 64 to 4,096, an eighth of the rows to as many as it has."""
    columns = extents(source, 64, 4096, 8, "d")["d"]
    rows = log_uniform(source, 1 << 20, 1 << 27) // columns
    return {"n": log_uniform(source, rows // 8, rows), "m": rows, "d": columns}


def cube(source):
    """Three extents of 2^20 to 2^28 elements together, the last two of 16 to 4,096."""
    sizes = extents(source, 16, 4096, 8, "bc")
    return {"a": max(1, log_uniform(source, 1 << 20, 1 << 28) // (sizes["b"] * sizes["c"])), **sizes}


def heads(source):
    """Batches of 1 to 256 rows of 16 to 4,096 elements, 2^20 to 2^27 elements together."""
    sizes = {"H": log_uniform(source, 1, 256), **extents(source, 16, 4096, 8, "W")}
    return {"B": max(1, log_uniform(source, 1 << 20, 1 << 27) // (sizes["H"] * sizes["W"])), **sizes}


def batch(source):
    """2 to 256 products with extents of 32 to 2,048, whose results have at most 2^27 elements."""
    sizes = extents(source, 32, 2048, 8)
    most = (1 << 27) // (sizes["M"] * sizes["N"])
    return {"S": min(most, log_uniform(source, 2, 256)), **sizes}


def layers(source):
    """Rows of batches and positions, at most 16,384; N and K of 512 to 8,192."""
    sizes = extents(source, 512, 8192, 8, "NK")
    batches = log_uniform(source, 1, 64)
    return {"B": batches, "S": log_uniform(source, 64, 16384 // batches), **sizes}


def filtered(source):
    """Images of 7 to 112, as many as have 2^12 to 2^18 pixels together; 16 to 512 channels before and behind."""
    high, channels = log_uniform(source, 7, 112), extents(source, 16, 512, 8, "CO")
    wide = log_uniform(source, 7, 112) if source.random() < 0.3 else high
    return {"N": max(1, log_uniform(source, 1 << 12, 1 << 18) // (high * wide)), "H": high, "W": wide, **channels}


def attentions(source):
    """Of 4 to 256 heads, 64 to 16,384 queries and as many keys, at most 2^29 scores together."""
    length = log_uniform(source, 64, 16384)
    return {"S": max(1, min(log_uniform(source, 4, 256), (1 << 29) // length ** 2)), "M": length, "N": length}


def product(file, kernel, peers, limit, arch="sm_90a"):
    return Product(file, kernel, arch, "", (), dict.fromkeys(peers, {}), limit)


def mover(file, kernel, definition, limit, arch="sm_90"):
    return Memory("any", file, kernel, (), definition, limit, arch)


# The largest error of a product of each of these types that counts as right.
HALF_LIMITS = {"f16": 1e-3, "bf16": 4e-3}
WAYS = ("nn", "nt", "tn", "tt")
BYTES = [product("gemm_8bit", f"gemm_{kind}_{way}", (f"{peer}_copied", "triton"), limit)
         for kind, peer, limit in (("e4m3", "scaled", 1e-2), ("i8", "integers", 0)) for way in WAYS]
HALVES = [product("gemm", f"gemm_{kind}_{way}", ("cublas", "triton"), limit)
          for kind, limit in HALF_LIMITS.items() for way in WAYS]
BATCHES = [mover("gemm_batched", f"gemm_batched_{kind}_{way}", f"batched_{way}", limit, "sm_90a")
           for kind, limit in HALF_LIMITS.items() for way in WAYS[:3]]
SINGLES = [product("sgemm", f"sgemm_{way}", ("cublas",), 1e-5) for way in WAYS]
SPLITS = [product("sgemm_split", f"sgemm_split_{way}", ("cublas",), 1e-5) for way in WAYS]
SPLIT_BATCHES = [mover("sgemm_split_batched", f"sgemm_split_batched_{way}", f"batched_{way}", 1e-5, "sm_90a")
                 for way in WAYS]
DOUBLES = [product("dgemm", f"dgemm_{way}", ("cublas",), 1e-12) for way in WAYS]
LIMITS = {"f32": 1e-5, **HALF_LIMITS}


def of_rows(file, *definitions):
    """A case for each definition and type."""
    return [mover(file, f"{name}_{kind}", name, limit) for name in definitions for kind, limit in LIMITS.items()]


ROWS = [*of_rows("rows_softmax", "softmax", "log_softmax"),
        *of_rows("rows_norm", "layer_norm", "rms_norm", "rms_norm_added"),
        *(mover("rows_loss", f"cross_entropy_{kind}", "cross_entropy", 1e-5) for kind in LIMITS)]
GRADIENTS = [*of_rows("rows_softmax", "softmax_grad", "log_softmax_grad"),
             *of_rows("rows_norm", "layer_norm_grad", "rms_norm_grad"), *of_rows("rows_loss", "cross_entropy_grad")]
GEMVS = [mover("gemv", f"gemv_{kind}_{way}", f"gemv_{way}", limit) for kind, limit in LIMITS.items() for way in "nt"]
IMAGES = [mover("depthwise", f"depthwise_{kind}_{size}", "depthwise", LIMITS[kind])
          for kind in ("f32", "bf16") for size in (3, 7)]
LAYERS = [mover("linear", "linear", "linear", LIMITS["bf16"], "sm_90a")]
CONVOLUTIONS = [mover("conv2d", name, name, LIMITS["f16"], "sm_90a")
                for name in ("conv_nhwc", "conv_nchw", "conv_same")]
SCANS = [mover("scan", "prefix_sum_f32", "prefix_sum", 1e-4), mover("scan", "prefix_sum_i32", "prefix_sum", 0),
         mover("scan", "segment_prefix_sum", "segment_prefix_sum", 1e-5)]
COMPACTIONS = [mover("scan", f"compact_ordered_{kind}", "kept", 0) for kind in ("i32", "f32")]
MATRIX_SCANS = [mover("scan_rows", name, name, limit)
                for name, limit in (("row_prefix_sum", 1e-4), ("row_greatest", 0), ("column_prefix_sum", 1e-4))]
HISTOGRAMS = [mover("histogram", f"histogram_{kind}", "histogram", 0) for kind in ("u8", "i32")]
TOPS = [mover("top_k", f"top_{k}_{kind}", f"top_{k}", 0) for k in (8, 32) for kind in LIMITS]
ATTENTIONS = [mover("attention", f"{name}_{kind}_{columns}", name, 4 * limit, "sm_90a")
              for kind, limit in HALF_LIMITS.items() for columns in (64, 128) for name in ("attention", "causal")]
GATHERS = [mover("embedding", "embedding", "embedding", 0)]
SUMS = [mover("row_sum_by_schedule", kernel, definition, 1e-3)
        for kernel, definition in (("row_sum_block", "row_sum"), ("col_sum_parts", "col_sum"), ("sum_all", "total"))]
TRANSPOSES = [mover("transpose_tile", "transpose_tile", "transpose", 0)]
PERMUTATIONS = [mover("permute", f"permute_{order}_{kind}", f"permute_{order}", 0)
                for kind in ("f32", "f16") for order in ("021", "210", "120", "102")]
PLACES = f"{os.path.dirname(os.path.abspath(__file__))}/places"


def of_places(*definitions):
    """A case for each definition and type of `places.ing`."""
    return [mover(PLACES, f"{name}_{kind}", name, LIMITS[kind]) for name in definitions for kind in ("f32", "f16")]


IMAGE_PLACES = of_places("nearest", "bilinear", "shuffled", "padded", "rolled", "windows", "last", "exchanged")
HEAD_PLACES = of_places("outer", "beside", "above", "turned_pairs", "turned_halves")
VECTORS = [mover("vadd", "vadd", "add", 1e-7)]

LARGE, SMALL, MOVED = (1.02, 0.93), (1.05, 0.90), (0.90, 0.80)
FAMILIES = (
    Family("products", HALVES, large, {"best": LARGE}),
    Family("8-bit products", BYTES, large_bytes, {"best": LARGE}),
    Family("small products", HALVES, small, {"best": SMALL}),
    Family("small 8-bit products", BYTES, small_bytes, {"best": SMALL}),
    Family("skinny products", HALVES, skinny, {"best": SMALL}),
    Family("batched products", BATCHES, batch, {"best": SMALL}),
    Family("linear layers", LAYERS, layers, {"best": SMALL}),
    Family("convolutions", CONVOLUTIONS, filtered, {"best": SMALL}),
    Family("attentions", ATTENTIONS, attentions, {"best": SMALL}),
    Family("f32 products", SINGLES, large, {"best": LARGE}),
    Family("f32 products by Tensor Cores", SPLITS, large, {"best": LARGE}),
    Family("batched f32 products by Tensor Cores", SPLIT_BATCHES, batch, {"best": SMALL}),
    Family("f64 products", DOUBLES, large, {"best": LARGE}),
    Family("rows", ROWS, matrix, {"copy": MOVED, "compiled": (1.3, 1.0)}),
    Family("gradients", GRADIENTS, matrix, {"copy": MOVED, "compiled": (1.3, 1.0)}),
    Family("sums", SUMS, matrix, {"copy": MOVED}),
    Family("transposes", TRANSPOSES, matrix, {"copy": MOVED}),
    Family("permutations", PERMUTATIONS, cube, {"copy": MOVED}),
    Family("places of images", IMAGE_PLACES, images, {"copy": MOVED}),
    Family("places of heads", HEAD_PLACES, heads, {"copy": MOVED}),
    Family("vectors", VECTORS, vector, {"copy": MOVED}),
    Family("gemvs", GEMVS, matrix_and_vector, {"copy": (0.92, 0.85)}),
    Family("images", IMAGES, images, {"cudnn": (7.0, None)}),
    Family("scans", SCANS, vector, {"copy": (0.85, 0.75)}),
    Family("compactions", COMPACTIONS, shorter_vector, {"copy": (0.85, 0.75)}),
    Family("scans of matrices", MATRIX_SCANS, matrix, {"copy": (0.85, 0.75)}),
    Family("histograms", HISTOGRAMS, vector, {"copy": (0.85, 0.75)}),
    Family("gathers", GATHERS, gather, {"copy": MOVED}),
    Family("greatest", TOPS, matrix, {"best": SMALL}),
)


def cases(seed, count, only=""):
    """(family, row, sizes) of every case of the family `only`, or of those whose name has it: the same for the same
    seed."""
    for family in [f for f in FAMILIES if f.name == only] or [f for f in FAMILIES if only in f.name]:
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
                yield from said(family.name, peer, {"schedules": SCHEDULES, **family.goals}.get(peer, (None, None)),
                                found)
            if peer in family.goals and len(found) < len(measured):
                yield f"{family.name}: {len(measured) - len(found)} cases without {peer}"
        yield from absences(family.name, measured)
    found = [(row["speeds"]["schedules"], row["case"]) for row in rows if "schedules" in row.get("speeds", {})]
    if found:
        yield from said("all families", "schedules", SCHEDULES, found)
