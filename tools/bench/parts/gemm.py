"""Products of matrices: right first, then beside their peers."""

from functools import partial

import torch

import data
import peers
import timing
from artifact import Failure
from cases import PRODUCTS
from report import median_ms
from session import settle


def case_name(product, size):
    text = f"{size}" if isinstance(size, int) else "x".join(map(str, size))
    return f"{product.kernel} {product.arch} {text}"


def extents(size):
    return dict(zip("MNK", (size,) * 3 if isinstance(size, int) else size))


def matrices(kernel, made):
    """The operands as M x K and K x N, whichever way they lie."""
    ways = {p["c_name"]: "".join(p["shape"]) for p in kernel.arrays}
    a = made["A"] if ways["A"] == "MK" else made["A"].t()
    b = made["B"] if ways["B"] == "KN" else made["B"].t()
    return a, b


def rival(name, kernel, made, finish):
    """A peer's function on one set of operands, with a result of its own."""
    a, b = matrices(kernel, made)
    out = data.poison(torch.empty_like(made["C"]))
    return peers.PEERS[name](a, b, made.get("bias"), finish, out)


def works_of(kernel, product, sizes, report, case):
    """Per name the calls on every set of operands: ours, and of peers that can be had."""
    copies = [data.operands(kernel, sizes)]
    size = sum(t.nbytes for t in copies[0].values())
    copies += [data.operands(kernel, sizes) for _ in range(timing.sets(size) - 1)]
    works = {"ingot": [kernel.launcher(sizes, m) for m in copies]}
    for name in product.peers:
        try:
            if name == "triton" and sizes["M"] not in product.peers[name]:
                continue
            work = [rival(name, kernel, m, product.finish) for m in copies]
            work[0]()
            torch.cuda.synchronize()
            works[name] = work
        except Exception as error:
            report.failure("gemm", f"{case}, {name}", f"{type(error).__name__}: {error}")
    return copies, works


def judge(kernel, product, made, works):
    """Errors of ours and of each peer that computes the same; refuses wrong results."""
    works["ingot"][0]()
    settle()
    names, outs = ["ingot"], [made["C"]]
    for name, work in works.items():
        if name != "ingot" and (not product.finish or name in ("cublaslt", "compiled")):
            names.append(name)
            outs.append(work[0]())
    torch.cuda.synchronize()
    bias = made["bias"].double() if "bias" in made else None
    finish = peers.EPILOGUES[product.finish]
    a, b = matrices(kernel, made)
    found = data.product_errors(a, b, lambda acc: finish(acc, bias), outs)
    errors = {n: {"norm": e.norm(), "worst": e.worst()} for n, e in zip(names, found)}
    if not errors["ingot"]["norm"] <= product.limit:
        raise Failure(f"wrong: relative error {errors['ingot']['norm']:.3e}")
    if not torch.isfinite(made["C"].float()).all():
        raise Failure("wrong: elements not written")
    return errors


def measure(product, size, session):
    """One product at one size."""
    case, sizes = case_name(product, size), extents(size)
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    torch.backends.cuda.matmul.allow_tf32 = "tf32" in product.kernel
    copies, works = works_of(kernel, product, sizes, session.report, case)
    errors = judge(kernel, product, copies[0], works)
    times = {"cool": timing.cool(works, session.rounds)}
    if sizes["M"] >= 4096 and sizes["K"] >= 4096:
        times["sustained"] = timing.sustained(works, session.rounds)
    flop = 2 * sizes["M"] * sizes["N"] * sizes["K"]
    for form, rows in times.items():
        ratios = {p: timing.ratio(rows, "ingot", p) for p in works if p != "ingot"}
        rates = {n: flop / median_ms(rows, n) / 1e9 for n in works}
        goals = {p: product.peers[p].get(size) for p in ratios}
        text = f"ingot {rates['ingot']:.1f} TFLOP/s (error {errors['ingot']['norm']:.2e})"
        for p, (middle, low, high) in ratios.items():
            off = f", error {errors[p]['norm']:.2e}" if p in errors else ""
            text += f"; {p} {rates[p]:.1f}, ratio {middle:.4f} ({low:.3f} to {high:.3f}){off}"
        session.report.row("gemm", f"{case} {form}", text, ratios={p: r[0] for p, r in ratios.items()},
                   ranges={p: r[1:] for p, r in ratios.items()}, goals=goals, tflops=rates,
                   ms=rows, errors=errors)


def cases():
    for product in PRODUCTS:
        for size in product.sizes:
            yield case_name(product, size), partial(measure, product, size)
