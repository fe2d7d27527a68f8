"""Products at sizes that no tile divides, compared in double precision."""

from functools import partial

import data
from cases import PRODUCTS, RAGGED
from parts.gemm import case_name, extents, judge
from session import settle


def measure(product, size, session):
    sizes = extents(size)
    kernel = session.builder.kernel(product.file, product.kernel, product.arch)
    made = data.Operands(kernel, sizes)
    kernel.launcher(sizes, made.by_name)()
    settle()
    errors = judge(kernel, product, made)["ingot"]
    session.report.row("ragged", case_name(product, size),
                       f"right, error {errors['norm']:.2e}, worst {errors['worst']:.2e}", errors=errors)


def cases(part, given):
    seen = {(p.file, p.kernel, p.arch): p for p in PRODUCTS}
    for product in seen.values():
        for size in RAGGED:
            yield case_name(product, size), partial(measure, product, size)
