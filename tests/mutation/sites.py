"""Places in C files where one operator or condition can be changed.

clang prints the syntax tree; what stands in a macro, in a constant or in another file is
left out. A mutant is a text that takes the place of an expression:

    for site in sites_of_file(root, "passes/opt/fold.c"):
        print(site.line, site.what, site.before, "=>", site.after)
"""

import dataclasses
import json
import os
import subprocess

# What takes the place of a binary operator.
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/",
    "&": "|", "|": "&", "<<": ">>", ">>": "<<",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "*=": "+=", "/=": "*=",
}

# Statements and expressions whose first operand decides.
CONDITIONS = ("IfStmt", "WhileStmt", "ConditionalOperator")

# What must be known to the C compiler, so that no mutant can stand there.
CONSTANTS = ("ConstantExpr", "EnumConstantDecl", "StaticAssertDecl", "InitListExpr")


@dataclasses.dataclass(frozen=True)
class Site:
    """A mutant: `before` at `begin` of a file becomes `after`."""

    file: str
    line: int
    begin: int
    end: int
    what: str
    before: str
    after: str

    def name(self):
        """What is changed, in one line."""
        return f"{self.file}:{self.line}: {self.what}: {self.before} => {self.after}"


class Walk:
    """A walk over the tree that clang prints, in its order.

    clang names a file only where it differs from that of the place before.
    """

    def __init__(self, file, source):
        self.file, self.source = file, source
        self.current, self.sites = None, []

    def end_of(self, place):
        """Note the file of a place; return its offset in our file and its length, or None."""
        if "spellingLoc" in place:
            self.end_of(place["spellingLoc"])
            self.end_of(place["expansionLoc"])
            return None
        self.current = place.get("file", self.current)
        if "offset" not in place or os.path.normpath(self.current or "") != self.file:
            return None
        return place["offset"], place["tokLen"]

    def extent(self, node):
        """Return where a node begins and ends in our file, or None."""
        if "loc" in node:
            self.end_of(node["loc"])
        begin = self.end_of(node.get("range", {}).get("begin", {}))
        end = self.end_of(node.get("range", {}).get("end", {}))
        return begin and end and (begin[0], end[0] + end[1])

    def add(self, extent, what, after):
        """Add a mutant of the expression there."""
        begin, end = extent
        line = self.source.count("\n", 0, begin) + 1
        self.sites.append(
            Site(self.file, line, begin, end, what, self.source[begin:end], after))

    def add_binary(self, node, extent, operands, types):
        """Add the mutant of a binary operator."""
        (_, left), (right, _) = operands[0], operands[1]
        other = OPERATORS[node["opcode"]]
        if "*" in types[0] and "*" in types[1] and node["opcode"] == "-":
            return
        text = self.source[extent[0]:left] + f" {other} " + self.source[right:extent[1]]
        self.add(extent, f"{node['opcode']} to {other}", text)

    def see(self, node, is_constant=False):
        """Visit a node; return its extent."""
        extent = self.extent(node)
        kind = node.get("kind")
        is_constant = (is_constant or kind in CONSTANTS or
                       kind == "VarDecl" and node.get("storageClass") == "static")
        inner = [x for x in node.get("inner", []) if x]
        operands = [self.see(x, is_constant) for x in inner]
        if is_constant or not extent or not operands or not operands[0]:
            return extent
        if kind in ("BinaryOperator", "CompoundAssignOperator") and node["opcode"] in OPERATORS:
            if operands[1]:
                types = [x.get("type", {}).get("qualType", "") for x in inner]
                self.add_binary(node, extent, operands, types)
        elif kind in CONDITIONS:
            self.add(operands[0], "condition holds", "1")
            self.add(operands[0], "condition fails", "0")
        elif kind == "UnaryOperator" and node["opcode"] == "!":
            self.add(extent, "! dropped", f"!!{self.source[slice(*operands[0])]}")
        return extent


def sites_of_file(root, file, clang="clang-22"):
    """Return the mutants of a file, named relative to `root`, in the order of the text."""
    command = [clang, "-std=c11", "-I.", "-D_POSIX_C_SOURCE=200809L", "-DINGOT_CHECKED=1",
               '-DINGOT_VERSION="0"', "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json", file]
    tree = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(root, file), encoding="utf-8") as f:
        walk = Walk(file, f.read())
    assert walk.source.isascii(), file
    walk.see(json.loads(tree))
    return sorted(walk.sites, key=lambda s: (s.begin, s.end, s.what))
