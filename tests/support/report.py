"""Pages of `ingot report`: report.py INGOT SOURCE_DIR CUDA. Ends with an assertion where one is not as it should be."""

import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile

INGOT, SOURCE, CUDA = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
HAS_TOOLS = all(os.access(CUDA / "bin" / tool, os.X_OK) for tool in ("ptxas", "nvdisasm"))
VOID = {"meta", "link", "br", "img", "input"}

CONFLICT = """// Ends no script: </script><script>alert(1)</script> <!-- here
kernel turn(n: int, A: f32[n, n]) -> C: f32[n, n]
    try n = 64
{
    C[i, j] = A[j, i]
}

schedule turn {
    i0, j0, i1, j1 = tile(C.i, C.j, 32, 32)
    bind(i0, block.y)
    bind(j0, block.x)
    copy = cache_read(C, A, shared)
    compute_at(copy, j0)
    bind(i1, thread.y)
    bind(j1, thread.x)
    r, c = copy.ax0, copy.ax1
    bind(r, thread.y)
    bind(c, thread.x)
}
"""

LOG = """turn n=64 on "NVIDIA H200" sm_90a build 1 : state=measured us=3.5 ratio=1 spread=0.4 turns=40 \
date=2026-01-31T12:00:00Z kernel=1f00 text=7a31 version=0.1.0
turn n=64 on "NVIDIA H200" sm_90a schedule 1 : state=measured us=2.5 ratio=0.71 spread=0.4 turns=40 \
date=2026-01-31T12:00:00Z kernel=1f00 text=7a32 version=0.1.0
turn n=65 on "NVIDIA H200" sm_90a schedule 1 : state=measured us=9 ratio=0.71 spread=0.4 turns=40 \
date=2026-01-31T12:00:00Z kernel=1f00 text=7a32 version=0.1.0
"""


class Page(html.parser.HTMLParser):
    """A page: whether its elements are nested, and the data in it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.data = [], None
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        assert not any(name in ("src", "srcset") for name, _ in attributes), attributes
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop()[0] == tag, tag

    def handle_data(self, text):
        if self.open and self.open[-1] == ("script", "data"):
            self.data = json.loads(text)


def run(*arguments):
    return subprocess.run([INGOT, "report", *map(str, arguments)], capture_output=True, text=True)


def report(file, *arguments):
    """Write a page twice, the same; return its data."""
    texts = []
    for name in ("page.html", "again.html"):
        done = run(file, *arguments, "-o", name)
        assert done.returncode == 0 and not done.stdout, done
        texts.append(pathlib.Path(name).read_text())
    assert texts[0] == texts[1]
    assert "http" not in texts[0] and "@import" not in texts[0] and "url(" not in texts[0]
    return Page(texts[0]).data


def picture(data, kind, name):
    """Return a picture's numbers, row by row."""
    one = next(p for p in data["pictures"] if p["kind"] == kind and p["name"] == name)
    runs, cells = one["cells"], []
    for value, n in zip(runs[::2], runs[1::2]):
        cells += [value] * n
    return [cells[i * one["columns"]:(i + 1) * one["columns"]] for i in range(one["rows"])]


def axes(nest):
    """Return the axis and the extent of each loop, from the outermost on."""
    for node in nest:
        if node["kind"] == "for":
            yield node["axis"], node.get("extent")
        yield from axes(node.get("body", []))


def test_transpose():
    data = report(SOURCE / "tests/kernels/transpose_tile.ing", "--size", "m=512,n=300")
    assert data["kernel"] == "transpose_tile" and data["arch"] == "sm_90a"
    assert data["plan"]["sizes"] == {"m": 512, "n": 300}
    assert list(axes(data["nest"]))[1:3] == [("unroll", 16), ("thread.x", 256)]
    tile, shared = picture(data, "tile", "C"), picture(data, "shared", "A_shared")
    assert len(tile) == 32 and len(tile[0]) == 128
    assert all(thread == row % 2 * 128 + column for row, line in enumerate(tile) for column, thread in enumerate(line))
    for row in range(60):
        for column in range(32):
            at = row * 33 + column
            assert shared[at // 32][at % 32] == row % 8 * 32 + column
    assert shared[1][0] == -1, "the gap behind the first row"
    assert all(a["worst"] == a["best"] == {"taken": 1, "least": 1} for a in data["accesses"] if a["space"] == "shared")
    if HAS_TOOLS:
        usage = data["usage"][0]
        assert usage["registers"] > 0 and usage["spill_stores"] == 0
        lines = {place[1] for i in data["code"][0]["code"] for place in data["code_places"][i[3]]}
        assert {12, 17} <= lines, lines


def test_gemm():
    file = SOURCE / "tests/kernels/matrix/wgmma_f16.ing"
    data = report(file, "--kernel", "wgmma_f16", "--size", "M=128,N=128,K=192")
    d = picture(data, "fragment", "D")
    assert len(d) == 64
    for row, line in enumerate(d):
        for column, thread in enumerate(line):
            assert thread == row // 16 * 32 + row % 8 * 4 + column % 8 // 2


def test_conflict(folder):
    file = folder / "turn.ing"
    file.write_text(CONFLICT)
    (folder / "turn.tuned.log").write_text(LOG)
    data = report(file, "--size", "n=64", "--device", "L4")
    assert data["device"]["name"] == "L4" and data["arch"] == "sm_89"
    worst = max(a["worst"]["taken"] / a["worst"]["least"] for a in data["accesses"] if a["space"] == "shared")
    assert worst == 32, worst
    assert [(t["us"], t["build"]) for t in data["tuning"]] == [(3.5, True), (2.5, False)]
    assert data["texts"][0]["text"] == CONFLICT
    assert "i0, j0, i1, j1 = tile(C.i, C.j, 32, 32)" in data["schedule"]
    ncu = subprocess.run([INGOT, "run", file, "--size", "n=64", "--ncu"], capture_output=True, text=True).stdout
    assert data["profile"] == ncu.strip() and "regex:^(turn)$" in ncu, (data["profile"], ncu)
    directives = {node["by"][1] for node in data["nest"] if node["kind"] == "for"}
    assert directives <= set(range(8, 19)), directives


def test_tools(folder):
    file = SOURCE / "tests/kernels/vadd.ing"
    tools = folder / "tools/bin"
    tools.mkdir(parents=True)
    data = report(file, "--size", "n=1000", "--cuda", folder / "tools")
    assert "ptxas was not found" in data["code_note"] and data["usage"] == []
    if HAS_TOOLS:
        (tools / "ptxas").symlink_to(CUDA / "bin/ptxas")
        data = report(file, "--size", "n=1000", "--cuda", folder / "tools")
        assert "nvdisasm was not found" in data["code_note"] and data["usage"][0]["registers"] > 0


def test_errors(folder):
    vadd, gemm = SOURCE / "tests/kernels/vadd.ing", SOURCE / "tests/kernels/gemm.ing"
    for code, text, arguments in (
            (2, "the size `n` is missing", [vadd]),
            (2, "name one with --kernel", [gemm]),
            (2, "no device `H300` is known", [vadd, "--device", "H300"]),
            (2, "--arch needs one architecture", [vadd, "--arch", "sm_80,sm_90"]),
            (2, "name a file", []),
            (3, "cannot write", [vadd, "--size", "n=5", "-o", "/dev/null/page.html"])):
        done = run(*arguments)
        assert done.returncode == code and text in done.stderr and not done.stdout, done
    assert not list(folder.glob("*.report.html"))
    assert run(vadd, "--size", "n=5").returncode == 0 and (folder / "vadd.report.html").exists()


with tempfile.TemporaryDirectory() as name:
    os.chdir(name)
    test_transpose()
    test_gemm()
    test_conflict(pathlib.Path(name))
    test_tools(pathlib.Path(name))
    test_errors(pathlib.Path(name))
