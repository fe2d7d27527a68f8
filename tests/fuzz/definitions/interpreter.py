"""Computes what a kernel of definitions means, by ir/MEANING.md and
frontend/LANGUAGE.md: expressions become Python, loops run one after another."""

import itertools
from collections import namedtuple

import numbers_of_types as numbers
from language import Definition, Reduction, Scalar
from numbers_of_types import FLOATS, INTEGERS, STORED_ONLY, Fault

Typed = namedtuple("Typed", "code type")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Array:
    def __init__(self, kind, shape, values=None):
        self.type, self.shape = kind, shape
        size = 1
        for extent in shape:
            size *= extent
        self.values = [None] * size if values is None else values

    def place(self, indices):
        at = 0
        for index, extent in zip(indices, self.shape):
            if not 0 <= index < extent:
                raise Fault("index")
            at = at * extent + index
        return at

    def read(self, *indices):
        value = self.values[self.place(indices)]
        if value is None:
            raise Fault("no value yet")
        return value


def is_literal(node):
    kind = node[0]
    return (kind == "number" and node[1] not in ("true", "false")
            or kind == "unary" and node[1] == "-" and is_literal(node[2])
            or kind == "binary" and node[1] not in COMPARISONS
            and is_literal(node[2]) and is_literal(node[3])
            or kind == "select" and is_literal(node[2]) and is_literal(node[3]))


class Scope:
    """Names, and what expressions over them are in Python."""

    def __init__(self, arrays, scalars):
        self.arrays, self.scalars, self.locals = arrays, scalars, {}
        self.world = {"N": numbers, "A": arrays, "S": scalars}
        for kind in FLOATS:
            self.world["r_" + kind] = lambda x, kind=kind: numbers.round_to(kind, x)
        for kind in INTEGERS:
            self.world["w_" + kind] = lambda x, kind=kind: numbers.wrap(kind, x)

    def function(self, names, typed):
        """A Python function of these names."""
        arguments = ", ".join("v_" + name for name in names)
        return eval(f"lambda {arguments}: {typed.code}", self.world)

    # ---- types

    def expression(self, node, want=None):
        return getattr(self, "_" + node[0])(node, want)

    def converted(self, typed, kind):
        if typed.type == kind:
            return typed
        return Typed(f"N.convert({kind!r}, {typed.type!r}, {typed.code})", kind)

    def pair(self, a, b, want):
        """Two operands of one type."""
        if is_literal(a) and not is_literal(b):
            right = self.expression(b, want)
            return self.expression(a, right.type), right
        left = self.expression(a, want)
        right = self.expression(b, left.type if is_literal(b) else want)
        if left.type != right.type:
            kinds = {left.type, right.type}
            if not (kinds <= set(INTEGERS) and "int" in kinds) or "u64" in kinds:
                raise TypeError(f"{left.type} beside {right.type}")
            return self.converted(left, "int"), self.converted(right, "int")
        return left, right

    # ---- nodes

    def _number(self, node, want):
        text = node[1]
        if text in ("true", "false"):
            return Typed(text.capitalize(), "bool")
        is_whole = text.isdigit()
        kind = want if want and want != "bool" else "int" if is_whole else "f32"
        if kind in INTEGERS:
            return Typed(text, kind)
        value = numbers.round_to(kind, float(text))
        return Typed(f"float({str(value)!r})", kind)

    def _name(self, node, want):
        name = node[1]
        if name in self.locals:
            return Typed("v_" + name, self.locals[name])
        kind, _ = self.scalars[name]
        return Typed(f"S[{name!r}][1]", kind)

    def _element(self, node, want):
        array = self.arrays[node[1]]
        return Typed(f"A[{node[1]!r}].read({self.indices(node[2])})", array.type)

    def indices(self, nodes):
        """Indices as Python: any integer but u64 becomes `int`."""
        codes = []
        for node in nodes:
            typed = self.expression(node, "int")
            if typed.type not in INTEGERS or typed.type == "u64":
                raise TypeError(f"an index of type {typed.type}")
            codes.append(typed.code)
        return ", ".join(codes)

    def _select(self, node, want):
        condition = self.expression(node[1])
        chosen, other = self.pair(node[2], node[3], want)
        return Typed(f"({chosen.code} if {condition.code} else {other.code})",
                     chosen.type)

    def _unary(self, node, want):
        x = self.expression(node[2], want)
        if node[1] == "!":
            return Typed(f"(not {x.code})", "bool")
        if x.type in FLOATS:
            return Typed(f"(-{x.code})", x.type)
        return Typed(f"w_{x.type}({node[1]}{x.code})", x.type)

    def _binary(self, node, want):
        sign = node[1]
        if sign in ("&&", "||"):
            a, b = self.expression(node[2]), self.expression(node[3])
            word = "and" if sign == "&&" else "or"
            return Typed(f"({a.code} {word} {b.code})", "bool")
        is_test = sign in COMPARISONS
        a, b = self.pair(node[2], node[3], None if is_test else want)
        if is_test:
            return Typed(f"({a.code} {sign} {b.code})", "bool")
        if a.type in STORED_ONLY:
            raise TypeError(f"{sign} of {a.type}")
        if a.type in FLOATS:
            code = (f"N.divide_floats({a.code}, {b.code})" if sign == "/"
                    else f"({a.code} {sign} {b.code})")
            return Typed(f"r_{a.type}({code})", a.type)
        return Typed(self.integers(sign, a, b), a.type)

    def integers(self, sign, a, b):
        named = {"/": "divide", "%": "remainder",
                 "<<": "shift_left", ">>": "shift_right"}
        if sign in named:
            return f"N.{named[sign]}({a.type!r}, {a.code}, {b.code})"
        if a.type == "bool":
            return f"bool({a.code} {sign} {b.code})"
        return f"w_{a.type}({a.code} {sign} {b.code})"

    def _call(self, node, want):
        name, nodes = node[1], node[2]
        if name in INTEGERS or name in FLOATS or name == "bool":
            return self.converted(self.expression(nodes[0]), name)
        if name == "ceildiv" or name in ("min", "max"):
            a, b = self.pair(nodes[0], nodes[1], want)
            return Typed(self.extreme(name, a, b), a.type)
        given = [self.expression(x, want) for x in nodes]
        if name == "fma":
            kind = next(x.type for x, n in zip(given, nodes) if not is_literal(n))
            given = [self.expression(x, kind) for x in nodes]
        return self.function_of_one(name, given)

    def extreme(self, name, a, b):
        if name == "ceildiv":
            return f"N.divide_up({a.type!r}, {a.code}, {b.code})"
        if a.type in FLOATS:
            name = {"min": "N.lesser", "max": "N.greater"}[name]
        return f"{name}({a.code}, {b.code})"

    def function_of_one(self, name, given):
        codes, kind = [x.code for x in given], given[0].type
        if name == "fma":
            return Typed(f"N.fused({kind!r}, {', '.join(codes)})", kind)
        if name == "isnan":
            return Typed(f"(({codes[0]}) != ({codes[0]}))", "bool")
        if name == "abs":
            wrapped = f"abs({codes[0]})"
            return Typed(wrapped if kind in FLOATS else f"w_{kind}({wrapped})", kind)
        function = {"sqrt": "square_root", "relu": "positive_part",
                    "fmod": "remainder_of_floats"}.get(name, name)
        if name not in ("sqrt", "relu", "fmod", "floor", "ceil", "trunc", "rint"):
            raise TypeError(f"no function {name}")
        return Typed(f"r_{kind}(N.{function}({', '.join(codes)}))", kind)


# ---- reductions


def identity_of(name, kind):
    if name in ("sum", "prod"):
        return (0.0, 1.0)[name == "prod"] if kind in FLOATS else int(name == "prod")
    if name in ("any", "all"):
        return name == "all"
    if kind in FLOATS:
        return float("inf") if name == "min" else -float("inf")
    return numbers.greatest(kind) if name == "min" else numbers.least(kind)


COMBINE = {"sum": ("binary", "+"), "prod": ("binary", "*"), "any": ("binary", "||"),
           "all": ("binary", "&&"), "min": ("call", "min"), "max": ("call", "max")}


def scalar(kind, value):
    """A parameter's value: integers come as 64 bits with a sign."""
    if kind == "bool" or kind in FLOATS:
        return bool(value) if kind == "bool" else float(value)
    return numbers.wrap(kind, value)


class Run:
    """A kernel on given scalars and arrays."""

    def __init__(self, kernel, sizes, data):
        self.kernel = kernel
        self.arrays, self.scalars = {}, {}
        for p in kernel.parameters:
            if p.shape is None:
                self.scalars[p.name] = (p.type, scalar(p.type, sizes[p.name]))
        for p in kernel.parameters:
            if p.shape is not None:
                shape = [self.extent(x) for x in p.shape]
                values = data.get(p.name) if p.role != "output" else None
                self.arrays[p.name] = Array(p.type, shape, values)

    def scope(self, names=()):
        scope = Scope(self.arrays, self.scalars)
        scope.locals = dict.fromkeys(names, "int")
        return scope

    def extent(self, node):
        scope = self.scope()
        return scope.function([], scope.expression(node, "int"))()

    def results(self):
        for statement in self.kernel.statements:
            if isinstance(statement, Scalar):
                scope = self.scope()
                typed = scope.expression(statement.value)
                value = scope.function([], typed)()
                self.scalars[statement.name] = (typed.type, value)
            else:
                self.define(statement)
        return {p.name: self.arrays[p.name] for p in self.kernel.parameters
                if p.role in ("output", "inout")}

    # ---- definitions

    def shape_of(self, d):
        if not d.is_own:
            return self.arrays[d.arrays[0]].shape
        return [self.extent(index.extent) if index.extent
                else self.inferred(index.name, d.value) for index in d.indices]

    def inferred(self, name, node):
        """The extent that an index has in a plain access on the right."""
        if isinstance(node, Reduction):
            node = ("values", node.values)
        if node[0] == "element":
            for at, index in enumerate(node[2]):
                if index == ("name", name):
                    return self.arrays[node[1]].shape[at]
        for part in node[1:]:
            parts = part if isinstance(part, list) else [part]
            for inner in parts:
                if isinstance(inner, tuple):
                    found = self.inferred(name, inner)
                    if found is not None:
                        return found
        return None

    def define(self, d):
        names = [index.name for index in d.indices]
        shape = self.shape_of(d)
        kinds, compute = self.computation(d, names)
        if d.is_own:
            for name, kind in zip(d.arrays, kinds):
                self.arrays[name] = Array(kind, shape)
        targets = [self.arrays[name] for name in d.arrays]
        for at, indices in enumerate(itertools.product(*map(range, shape))):
            for target, value in zip(targets, compute(indices)):
                target.values[at] = value

    def computation(self, d, names):
        """The types of the elements, and a function from indices to them."""
        wanted = [None if d.is_own else self.arrays[name].type for name in d.arrays]
        if isinstance(d.value, Reduction):
            return self.reduction(d, names, wanted)
        node = d.value
        if d.operator:
            element = ("element", d.arrays[0], [("name", n) for n in names])
            node = ("binary", d.operator, element, node)
        scope = self.scope(names)
        typed = scope.expression(node, wanted[0])
        if wanted[0] and typed.type != wanted[0]:
            typed = self.stored(scope, typed, wanted[0])
        function = scope.function(names, typed)
        return [typed.type], lambda indices: [function(*indices)]

    def stored(self, scope, typed, kind):
        if kind == "int" and typed.type in INTEGERS and typed.type != "u64":
            return scope.converted(typed, kind)
        raise TypeError(f"{typed.type} into {kind}")

    def reduction(self, d, names, wanted):
        r = d.value
        scope = self.scope(names + [index.name for index in r.indices])
        reducer = self.kernel.reducers[r.name]
        if reducer:
            wanted = [kind for _, kind in reducer.left]
        ranges = [range(self.extent(index.extent)) for index in r.indices]
        typed = [scope.expression(node, kind) for node, kind in zip(r.values, wanted)]
        value = [scope.function(names + [i.name for i in r.indices], x) for x in typed]
        if r.name in ("argmax", "argmin"):
            return self.position(r.name, value[0], ranges[0], wanted[0] or "int")
        start, step = self.steps(r.name, reducer, typed)

        def compute(indices):
            state = list(start)
            for inner in itertools.product(*ranges):
                state = step(state, [f(*indices, *inner) for f in value])
            return state

        return [x.type for x in typed], compute

    def steps(self, name, reducer, typed):
        """What a reduction starts from, and how it takes one more."""
        scope = self.scope()
        if not reducer:
            kind = typed[0].type
            scope.locals = {"a": kind, "b": kind}
            sign = COMBINE[name]
            a, b = ("name", "a"), ("name", "b")
            node = (*sign, a, b) if sign[0] == "binary" else (*sign, [a, b])
            function = scope.function(["a", "b"], scope.expression(node, kind))
            return [identity_of(name, kind)], lambda s, v: [function(s[0], v[0])]
        kinds = [kind for _, kind in reducer.left]
        start = [scope.function([], scope.expression(node, kind))()
                 for node, kind in zip(reducer.identity, kinds)]
        scope.locals = dict(reducer.left + reducer.right)
        return start, self.declared(scope, reducer, kinds)

    def declared(self, scope, reducer, kinds):
        names = [name for name, _ in reducer.left + reducer.right]
        lets = []
        for name, node in reducer.lets:
            typed = scope.expression(node)
            lets.append(scope.function(names, typed))
            scope.locals[name] = typed.type
            names = names + [name]
        values = [scope.function(names, scope.expression(node, kind))
                  for node, kind in zip(reducer.values, kinds)]

        def step(state, more):
            known = state + more
            for let in lets:
                known = known + [let(*known)]
            return [f(*known) for f in values]

        return step

    def position(self, name, value, over, kind):
        """The first of the greatest, or least; a NaN only at position 0."""

        def compute(indices):
            best, at = None, 0
            for i in over:
                x = value(*indices, i)
                if i == 0 or (x > best if name == "argmax" else x < best):
                    best, at = x, i
            return [numbers.convert(kind, "int", at)]

        return [kind], compute


def interpret(kernel, sizes, data):
    """The arrays that a kernel writes; raises Fault where it has no meaning."""
    return Run(kernel, sizes, data).results()
