"""Draws kernels of definitions, and what their arrays hold.

Where the order of operations may change a result, values are drawn such that it
does not: sums of floating numbers add small integers, and no product of floating
numbers is added to anything, as the two may be rounded once, together.
"""

import math
import random
from collections import namedtuple

import numbers_of_types as numbers
from numbers_of_types import FLOATS, INTEGERS

Known = namedtuple("Known", "type dims")  # of an array: dims are extents as text

TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100")
COMPUTED = ("f16", "bf16", "f32", "f64")
STORED_ONLY = ("f8e4m3", "f8e5m2")
STORED = COMPUTED + STORED_ONLY
WHOLE = tuple(INTEGERS)
POSITIONS = ("i32", "u32", "i64", "u64", "int")

class Drawing:
    def __init__(self, seed, number):
        self.random = random.Random(seed * 1000003 + number)
        self.sizes, self.extents = {}, {}
        self.parameters, self.results = [], []
        self.arrays, self.small = {}, set()
        self.body, self.reducers, self.count = [], [], 0

    # ---- choices

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def one(self, values):
        return self.random.choice(values)

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def type(self, kinds=WHOLE * 2 + STORED + COMPUTED + ("bool",)):
        return self.one(kinds)

    # ---- extents

    def draw_extents(self):
        """Extents by their text: numbers and sizes."""
        for name in ("n", "m"):
            value = self.one((1, 2, 3, 4, 5, 6, 7, 7, 0))
            if self.chance(60):
                kind = self.one(("int", "int", "i32", "u16", "i8", "i64"))
                self.parameters.append(f"{name}: {kind}")
                self.sizes[name] = value
                self.extents[name] = value
            else:
                self.extents[str(max(value, 1))] = max(value, 1)
        self.extents["4"] = 4

    def dims(self, least, most):
        return [self.one(list(self.extents))
                for _ in range(self.random.randint(least, most))]

    def rows(self):
        """Extents of what a reduction leaves; one over everything takes a grid of
        thousands of threads, so there are few."""
        return self.dims(1 if self.chance(92) else 0, 2)

    # ---- arrays

    def parameter(self, kind, dims, is_small=False, is_inout=False):
        name = self.name("X" if is_inout else "A")
        shape = ", ".join(dims)
        self.parameters.append(
            f"{name}: {kind}[{shape}]" + " inout" * is_inout)
        self.arrays[name] = Known(kind, dims)
        if is_small:
            self.small.add(name)
        return name

    def index(self, extent, scope):
        """An index below an extent."""
        names = [name for name, of in scope if of == extent]
        if not names:
            return None
        name, form = self.one(names), self.random.randrange(8)
        if form == 0:
            return f"{extent} - 1 - {name}"
        if form == 1:
            return f"{name} / 2"
        if form == 2 and extent == "4" and self.chance(50):
            whole = [a for a, k in self.arrays.items() if k.type in WHOLE
                     and k.type != "u64" and not k.dims]
            return f"{self.one(whole)}[] & 3" if whole else name
        return name

    def element(self, kind, scope, is_small=False):
        """An element of an array of a type that every index of reaches."""
        fitting = [a for a, k in self.arrays.items() if k.type == kind
                   and (not is_small or a in self.small)
                   and all(any(of == d for _, of in scope) for d in k.dims)]
        if fitting and self.chance(60) or len(self.parameters) > 14:
            if not fitting:
                return None
            name = self.one(fitting)
        else:
            pool = [of for _, of in scope]
            self.random.shuffle(pool)
            name = self.parameter(kind, pool[:self.random.randint(0, 2)], is_small)
        at = ", ".join(self.index(d, scope) for d in self.arrays[name].dims)
        return f"{name}[{at}]"

    def scalar(self, kind):
        """A parameter that is one number, or a name for what one computes."""
        name, value = self.name("p"), self.number(kind, False)
        if kind in FLOATS and not math.isfinite(value):
            value = 1.5
        if kind == "int":  # the size of something
            value = abs(value)
        self.parameters.append(f"{name}: {kind}")
        self.sizes[name] = (numbers.wrap("i64", int(value)) if kind not in FLOATS
                            else value)
        if kind == "bool" or self.chance(50):
            return name
        short = self.name("h")
        self.body.insert(0, f"let {short} = max({name}, {kind}(3))")
        return short

    # ---- expressions

    def literal(self, kind):
        if kind == "bool":
            return self.one(("true", "false"))
        if kind in INTEGERS:
            return str(self.random.randrange(100))
        return self.one(("0.5", "1.0", "2.0", "0.25", "3.0", "100.0"))

    def leaf(self, kind, scope):
        form = self.random.randrange(10)
        found = self.element(kind, scope) if form > 1 else None
        if found:
            return found
        if form == 0 and kind in INTEGERS and scope:
            return f"{kind}({self.one(scope)[0]})"
        if form == 1 and kind not in STORED_ONLY and self.chance(50):
            return self.scalar(kind)
        if kind == "bool":
            return self.literal(kind)
        return f"{kind}({self.literal('int' if kind in INTEGERS else 'f32')})"

    def expression(self, kind, scope, depth):
        if kind in STORED_ONLY:
            return f"{kind}({self.expression(self.one(COMPUTED), scope, depth)})"
        if depth == 0:
            return self.leaf(kind, scope)
        form = self.random.randrange(10)
        if form == 0:
            return self.choice(kind, scope, depth - 1)
        if form < 3:
            return self.conversion(kind, scope, depth - 1)
        if kind == "bool":
            return self.test(scope, depth - 1)
        if kind in INTEGERS:
            return self.whole(kind, scope, depth - 1)
        return self.floating(kind, scope, depth - 1)

    def operand(self, kind, scope, depth):
        """An expression, or a number without a type of its own."""
        return (self.literal(kind) if self.chance(15)
                else self.expression(kind, scope, depth))

    def choice(self, kind, scope, depth):
        return (f"({self.expression('bool', scope, depth)} ? "
                f"{self.expression(kind, scope, depth)} : "
                f"{self.operand(kind, scope, depth)})")

    def conversion(self, kind, scope, depth):
        of = self.type(WHOLE + STORED + ("bool",))
        if kind == "int" and of == "u64":
            of = "i32"
        if of in STORED_ONLY:
            inner = self.element(of, scope) or self.expression(of, scope, depth)
            return f"{kind}({inner})"
        return f"{kind}({self.expression(of, scope, depth)})"

    def test(self, scope, depth):
        form = self.random.randrange(8)
        if form == 0:
            return f"!{self.expression('bool', scope, depth)}"
        if form < 3:
            sign = self.one(("&&", "||"))
            return (f"({self.expression('bool', scope, depth)} {sign} "
                    f"{self.expression('bool', scope, depth)})")
        if form == 3:
            return f"isnan({self.expression(self.one(COMPUTED), scope, depth)})"
        kind = self.one(WHOLE + COMPUTED)
        sign = self.one(("==", "!=", "<", "<=", ">", ">="))
        return (f"({self.expression(kind, scope, depth)} {sign} "
                f"{self.operand(kind, scope, depth)})")

    def whole(self, kind, scope, depth):
        a = self.expression(kind, scope, depth)
        b = self.operand(kind, scope, depth)
        width = INTEGERS[kind][0]
        forms = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})",
                 f"({a} / ({b} | 1))", f"({a} % ({b} | 1))", f"({a} & {b})",
                 f"({a} | {b})", f"({a} ^ {b})", f"({a} >> ({b} & {width - 1}))",
                 f"min({a}, {b})", f"max({b}, {a})", f"~{a}", f"abs({a})",
                 f"ceildiv({a} & 63, ({b} & 7) + 1)", f"(-{a})"]
        if kind != "int":
            forms.append(f"({a} << ({b} & {width - 1}))")
        return self.one(forms)

    def floating(self, kind, scope, depth):
        a = self.expression(kind, scope, depth)
        b = self.operand(kind, scope, depth)
        function = self.one(("abs", "relu", "sqrt", "floor", "ceil", "trunc", "rint"))
        return self.one((
            f"({a} + {b})", f"({a} - {b})", f"min({a} * {b}, {kind}(100.0))",
            f"max({a} * {b}, {a})", f"min({a} / {b}, {a})", f"min({a}, {b})",
            f"max({b}, {a})", f"(-{a})", f"{function}({a})",
            f"fma({a}, {self.expression(kind, scope, 0)}, {b})"))

    def exact(self, kind, scope):
        """Something small of which sums are exact."""
        a = self.element(kind, scope, True) or f"{kind}(2.0)"
        return f"max({a}, {kind}(1.0))" if self.chance(20) else a

    # ---- statements

    def indices(self, dims, letters="ijk"):
        return list(zip(letters, dims))

    def begin(self, kind, dims, scope):
        """The left side for an array that is a result, or the kernel's own."""
        is_own = self.chance(45)
        name = self.name("S" if is_own else "C")
        self.arrays[name] = Known(kind, dims)
        if is_own:
            inner = ", ".join(f"{i} in {d}" for i, d in scope)
            return f"let {name}[{inner}]"
        self.results.append(f"{name}: {kind}[{', '.join(dims)}]")
        return f"{name}[{', '.join(i for i, _ in scope)}]"

    def elements(self):
        kind, dims = self.type(), self.dims(0, 2)
        scope = self.indices(dims)
        if dims and kind in WHOLE and self.chance(15):
            return self.inferred(kind, dims, scope)
        value = self.expression(kind, scope, self.random.randrange(4))
        self.body.append(f"{self.begin(kind, dims, scope)} = {value}")

    def inferred(self, kind, dims, scope):
        """An array of the kernel's own that takes its ranges from another one."""
        source, name = self.parameter(kind, dims), self.name("S")
        at = ", ".join(i for i, _ in scope)
        value = self.expression(kind, scope, 1)
        self.arrays[name] = Known(kind, dims)
        self.body.append(f"let {name}[{at}] = {source}[{at}] ^ {value}")

    def in_place(self):
        kind, dims = self.type(WHOLE + COMPUTED), self.dims(0, 2)
        scope = self.indices(dims)
        signs = ("+=", "-=", "&=", "|=", "^=", "*=") if kind in INTEGERS else ("+=", "-=")
        value = self.expression(kind, scope, self.random.randrange(2))
        name = self.parameter(kind, dims, False, True)
        at = ", ".join(i for i, _ in scope)
        self.body.append(f"{name}[{at}] {self.one(signs)} {value}")

    def reduction(self):
        dims, inner = self.rows(), self.dims(1, 2)
        scope, over = self.indices(dims), self.indices(inner, "xy")
        names = ", ".join(f"{i} in {d}" for i, d in over)
        kind = self.type(WHOLE + COMPUTED + ("bool",))
        name = (self.one(("any", "all")) if kind == "bool"
                else self.one(("sum", "sum", "min", "max", "prod")))
        if kind == "int" and name == "prod":
            name = "sum"
        if kind in FLOATS and name == "prod":
            name = "max"
        value = (self.exact(kind, scope + over) if kind in FLOATS and name == "sum"
                 else self.expression(kind, scope + over, self.random.randrange(3)))
        self.body.append(f"{self.begin(kind, dims, scope)} = {name}({names}) {value}")

    def position(self):
        """The first of the greatest, where there is one."""
        dims = self.rows()
        scope = self.indices(dims)
        whole = [d for d, value in self.extents.items() if value > 0]
        over = [("x", self.one(whole))]
        kind = self.type(WHOLE + COMPUTED)
        value = self.expression(kind, scope + over, self.random.randrange(2))
        left = self.begin(self.one(POSITIONS), dims, scope)
        if left.startswith("let"):
            self.arrays[left[4:].split("[")[0]] = Known("int", dims)
        name = self.one(("argmax", "argmin"))
        self.body.append(f"{left} = {name}(x in {over[0][1]}) {value}")

    def declared(self):
        """A reduction of the file's own, of one value or of two."""
        kind, dims = self.type(WHOLE[:-1]), self.rows()
        scope, over = self.indices(dims), [("x", self.one(list(self.extents)))]
        name = self.name("r")
        sign = self.one(("+", "^", "|"))
        value = self.expression(kind, scope + over, 1)
        at = f"(x in {over[0][1]})"
        if self.chance(50):
            self.reducers.append(f"reduce {name}(a: {kind}; b: {kind}) identity 0"
                                 f" = a {sign} b")
            self.body.append(f"{self.begin(kind, dims, scope)} = {name}{at} {value}")
            return
        self.reducers.append(
            f"reduce {name}(a: {kind}, c: u32; b: {kind}, d: u32) identity (0, 0) {{\n"
            f"    let more = max(c, d)\n    (a {sign} b, more)\n}}")
        other = self.expression("u32", scope + over, 1)
        indices = ", ".join(i for i, _ in scope)
        names = [self.name("C"), self.name("C")]
        for result, of in zip(names, (kind, "u32")):
            self.results.append(f"{result}: {of}[{', '.join(dims)}]")
            self.arrays[result] = Known(of, dims)
        left = ", ".join(f"{result}[{indices}]" for result in names)
        self.body.append(f"({left}) = {name}{at} ({value}, {other})")

    # ---- data

    def number(self, kind, is_small):
        if kind == "bool":
            return self.chance(50)
        if kind in FLOATS:
            return numbers.round_to(kind, self.floating_number(kind, is_small))
        if kind == "int":
            return self.random.randint(-9, 9)
        low, high = numbers.least(kind), numbers.greatest(kind)
        return self.one((low, high, low + 1, 0, 1, self.random.randint(low, high),
                         max(low, -3), 5, 7, high // 2))

    def floating_number(self, kind, is_small):
        if is_small:
            return float(self.random.randint(-3, 3))
        bits, digits, low, top, beyond = FLOATS[kind]
        form = self.random.randrange(14)
        special = (0.0, -0.0, math.inf, -math.inf, math.nan, math.ldexp(1.0, low),
                   math.ldexp(3.0, low - 2), -math.ldexp(1.0, low - digits + 1))
        if form < 2:
            return self.one(special)
        if form < 4:
            return self.random.choice((-1, 1)) * math.ldexp(
                self.random.random(), self.random.randint(low, -low))
        if form < 8:
            return self.random.randint(-20, 20) / 2
        return self.random.uniform(-300, 300)

    def array(self, name):
        known = self.arrays[name]
        size = 1
        for d in known.dims:
            size *= self.extents[d]
        return [self.number(known.type, name in self.small) for _ in range(size)]

    # ---- the case

    def kernel(self):
        inner = "\n".join("    " + line for line in self.body)
        head = "".join(line + "\n\n" for line in self.reducers)
        results = f" -> ({', '.join(self.results)})" if self.results else ""
        return f"{head}kernel f({', '.join(self.parameters)}){results} {{\n{inner}\n}}\n"

    def case(self):
        self.draw_extents()
        forms = (self.elements,) * 5 + (self.reduction,) * 3 + (
            self.in_place, self.position, self.declared)
        for _ in range(self.random.randint(1, 3)):
            self.one(forms)()
        if not any(p.startswith("X") for p in self.parameters) and not self.results:
            self.body.append("C0[] = i32(7)")
            self.results.append("C0: i32[]")
            self.arrays["C0"] = Known("i32", [])
        if not self.parameters:
            self.parameter("i32", [])
        arrays = {name: numbers.encode(known.type, self.array(name))
                  for name, known in self.arrays.items() if name[0] in "AX"}
        return {"text": self.kernel(), "sizes": self.sizes, "arrays": arrays,
                "target": self.one(TARGETS)}


def draw(seed, number):
    """Case `number` of a seed, as the tool takes it."""
    return Drawing(seed, number).case()
