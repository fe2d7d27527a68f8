"""Reads kernels that are definitions, by the grammar of frontend/LANGUAGE.md.

Nodes are tuples, their kind first:

    number text        name n           element array indices
    call name args     unary op x       binary op a b       select c a b
"""

import re
from collections import namedtuple

Parameter = namedtuple("Parameter", "name type shape role")  # shape None: scalar
Index = namedtuple("Index", "name extent")                  # extent None: inferred
Reduction = namedtuple("Reduction", "name indices values")
Definition = namedtuple("Definition", "arrays indices is_own operator value")
Scalar = namedtuple("Scalar", "name value")
Reducer = namedtuple("Reducer", "left right identity lets values")
Kernel = namedtuple("Kernel", "parameters statements reducers")

TOKEN = re.compile(
    r"\s*(?://[^\n]*\s*)*(?:(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark>->|\|\||&&|==|!=|<=|>=|<<=|>>=|<<|>>|[-+*/%&|^]=|[][(){},:;?=<>|^&+*/%!~-]))")

LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="],
          ["<", "<=", ">", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]


def tokens_of(text):
    """The words of a text; a line's end is one where it ends a statement."""
    words, at, depth = [], 0, 0
    while at < len(text):
        if text[at:].strip() == "":
            break
        match = TOKEN.match(text, at)
        if not match:
            raise SyntaxError(f"what is {text[at:at + 20]!r}?")
        gap = text[at:match.start(match.lastgroup)]
        last = words[-1] if words else "{"
        if "\n" in gap and depth == 0 and (last[-1].isalnum() or last in ")]}_"):
            words.append("\n")
        word = match.group(match.lastgroup)
        depth += (word in "([") - (word in ")]") if len(word) == 1 else 0
        words.append(word)
        at = match.end()
    return words + ["\n", ""]


class Reader:
    def __init__(self, text):
        self.words = tokens_of(text)
        self.at = 0

    def next(self):
        return self.words[self.at]

    def take(self, wanted=None):
        word = self.words[self.at]
        if wanted is not None and word != wanted:
            raise SyntaxError(f"{word!r} instead of {wanted!r}")
        self.at += 1
        return word

    def has(self, word):
        if self.next() != word:
            return False
        self.at += 1
        return True

    def lines(self):
        while self.has("\n"):
            pass

    def many(self, item, end):
        """Items between commas, up to `end`."""
        found = []
        while self.next() != end:
            found.append(item())
            if not self.has(","):
                break
        self.take(end)
        return found

    # ---- expressions

    def expression(self):
        condition = self.level(0)
        if not self.has("?"):
            return condition
        chosen = self.expression()
        self.take(":")
        return ("select", condition, chosen, self.expression())

    def level(self, n):
        if n == len(LEVELS):
            return self.prefix()
        left = self.level(n + 1)
        while self.next() in LEVELS[n]:
            left = ("binary", self.take(), left, self.level(n + 1))
        return left

    def prefix(self):
        if self.next() in ("-", "!", "~"):
            return ("unary", self.take(), self.prefix())
        return self.primary()

    def primary(self):
        word = self.take()
        if word == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if word[0].isdigit() or word in ("inf", "nan", "true", "false"):
            return ("number", word)
        if self.has("("):
            return ("call", word, self.many(self.expression, ")"))
        if self.has("["):
            return ("element", word, self.many(self.expression, "]"))
        return ("name", word)

    def tuple(self):
        """One expression, or several in brackets."""
        start = self.at
        if self.has("("):
            values = self.many(self.expression, ")")
            if len(values) > 1:
                return values
        self.at = start
        return [self.expression()]

    # ---- statements

    def index(self):
        name = self.take()
        return Index(name, self.expression() if self.has("in") else None)

    def target(self):
        name = self.take()
        self.take("[")
        return name, self.many(self.index, "]")

    def value(self, reducers):
        """The right side: a reduction, or an expression."""
        ahead = self.words[self.at:self.at + 4]
        if ahead[0] in reducers and ahead[1] == "(" and ahead[3] == "in":
            name = self.take()
            self.take("(")
            return Reduction(name, self.many(self.index, ")"), self.tuple())
        return self.expression()

    def statement(self, reducers):
        is_own = self.has("let")
        if is_own and self.words[self.at + 1] == "=":
            name = self.take()
            self.take("=")
            return Scalar(name, self.expression())
        targets = self.many(self.target, ")") if self.has("(") else [self.target()]
        operator = self.take()
        return Definition([name for name, _ in targets], targets[0][1], is_own,
                          operator[:-1], self.value(reducers))

    # ---- items of a file

    def parameter(self, role):
        name = self.take()
        self.take(":")
        kind, shape = self.take(), None
        if self.has("["):
            shape = self.many(self.expression, "]")
        if self.has("inout"):
            role = "inout"
        return Parameter(name, kind, shape, role)

    def kernel(self, reducers):
        self.take("kernel")
        self.take()
        self.take("(")
        known = self.many(lambda: self.parameter("input"), ")")
        self.lines()
        if self.has("->"):
            self.take("(")
            known += self.many(lambda: self.parameter("output"), ")")
        self.lines()
        self.take("{")
        statements = []
        self.lines()
        while not self.has("}"):
            statements.append(self.statement(reducers))
            self.lines()
        return Kernel(known, statements, reducers)

    def side(self, end):
        def value():
            name = self.take()
            self.take(":")
            return name, self.take()
        found = [value()]
        while self.has(","):
            found.append(value())
        self.take(end)
        return found

    def reducer(self):
        self.take("reduce")
        name = self.take()
        self.take("(")
        left, right = self.side(";"), self.side(")")
        self.lines()
        self.take("identity")
        identity, lets = self.tuple(), []
        self.lines()
        if self.has("="):
            return name, Reducer(left, right, identity, lets, self.tuple())
        self.take("{")
        self.lines()
        while self.has("let"):
            local = self.take()
            self.take("=")
            lets.append((local, self.expression()))
            self.lines()
        values = self.tuple()
        self.lines()
        self.take("}")
        return name, Reducer(left, right, identity, lets, values)


BUILT_IN = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


def parse(text):
    """The one kernel of a file, with the reductions that it declares."""
    reader = Reader(text)
    reducers = dict.fromkeys(BUILT_IN)
    reader.lines()
    while reader.next() == "reduce":
        name, reducer = reader.reducer()
        reducers[name] = reducer
        reader.lines()
    return reader.kernel(reducers)
