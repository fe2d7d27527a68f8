"""Random operands, references in double precision, and errors against them."""

import math

import torch

TYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "i8": torch.int8, "u8": torch.uint8, "i32": torch.int32, "i64": torch.int64,
    "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
}
BLOCK = 2048
POISON = {torch.int8: 77, torch.uint8: 77, torch.int32: -559038737, torch.int64: -559038737}


def random(shape, kind):
    """Normal numbers, or all integers that a byte holds."""
    kind = TYPES[kind]
    if kind.is_floating_point:
        return torch.randn(shape, device="cuda").to(kind)
    return torch.randint(-128, 128, shape, device="cuda").to(kind)


def poison(tensor):
    """Fills a result with what no kernel would leave there."""
    tensor.fill_(POISON.get(tensor.dtype, float("nan")))
    return tensor


def untouched(tensor):
    """Whether every element is still poison."""
    if tensor.dtype in POISON:
        return bool((tensor == POISON[tensor.dtype]).all())
    return bool(tensor.float().isnan().all())


class Operands:
    """Random inputs and poisoned results for every array of a kernel.

    `by_name` has them all, `inputs` in the order of the parameters, `out` is the first
    result; around each lies poison, too."""

    MARGIN = 4096

    def __init__(self, kernel, sizes):
        self.by_name, self.inputs, self.rooms, self.bytes, self.out = {}, [], [], 0, None
        for array in kernel.arrays:
            shape, kind = kernel.shape(array, sizes), array["type"]
            if array["role"] == "output":
                tensor = self.result(shape, kind)
                self.out = tensor if self.out is None else self.out
            else:
                tensor = random(shape, kind)
                self.inputs.append(tensor)
            self.by_name[array["c_name"]] = tensor
            self.bytes += tensor.nbytes

    def result(self, shape, kind):
        count = math.prod(shape)
        room = poison(torch.empty(count + 2 * self.MARGIN, dtype=TYPES[kind], device="cuda"))
        self.rooms.append(room)
        return room[self.MARGIN:self.MARGIN + count].view(shape)

    def intact(self):
        """Whether nothing was written around the results."""
        return all(untouched(part) for room in self.rooms
                   for part in (room[:self.MARGIN], room[-self.MARGIN:]))


def some_rows(count):
    """All rows of a matrix, or a random choice if they are many."""
    if count <= 8192:
        return torch.arange(count, device="cuda")
    return torch.randperm(count, device="cuda")[:BLOCK].sort().values


class Errors:
    """Sums over blocks of a result: `norm` is ||out - want|| / ||want||, `worst` the
    largest deviation of an element over the root mean square of what was wanted."""

    def __init__(self):
        self.off = self.all = self.count = self.most = 0

    def add(self, out, want):
        difference = (out.double() - want.double()).abs()
        self.off += difference.square().sum().item()
        self.all += want.double().square().sum().item()
        self.count += want.numel()
        most = difference.max().item() if want.numel() else 0
        self.most = most if most != most else max(self.most, most)

    def norm(self):
        return (self.off / max(self.all, 1e-300)) ** 0.5 if self.off else self.off

    def worst(self):
        scale = (self.all / max(self.count, 1)) ** 0.5
        return self.most / max(scale, 1e-150) if self.most else self.most


def product_errors(a, b, finish, outs):
    """The errors of several results of finish(a @ b); all are matrices."""
    errors = [Errors() for _ in outs]
    wide = b.double()
    for rows in some_rows(a.shape[0]).split(BLOCK):
        want = finish(a[rows].double() @ wide)
        for e, out in zip(errors, outs):
            e.add(out[rows], want)
    return errors


def errors(out, want):
    e = Errors()
    e.add(out, want)
    return e
