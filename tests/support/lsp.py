"""A client of `ingot lsp`: lsp.py INGOT SOURCE_DIR. Ends with an assertion where an answer is not as it should be."""

import json
import pathlib
import re
import subprocess
import sys

INGOT, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
URI = "file:///nowhere/v%20add.ing"
TEXT = (SOURCE / "runtime/example/vadd.ing").read_text()


class Client:
    """A session."""

    def __init__(self):
        self.server = subprocess.Popen([INGOT, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def receive(self):
        size = 0
        while line := self.server.stdout.readline().strip():
            size = int(line.split(b":")[1])
        return json.loads(self.server.stdout.read(size))

    def ask(self, method, **params):
        self.count += 1
        self.send(id=self.count, method=method, params=params)
        reply = self.receive()
        assert reply["id"] == self.count, reply
        return reply

    def at(self, method, line, character):
        """The result of a request for a place."""
        return self.ask(method, textDocument={"uri": URI}, position={"line": line, "character": character})["result"]

    def show(self, method, **document):
        """The diagnostics that a text gets."""
        change = {"contentChanges": [{"text": document.pop("text")}]} if method == "didChange" else {}
        self.send(method=f"textDocument/{method}", params={"textDocument": {"uri": URI, **document}, **change})
        reply = self.receive()
        assert reply["method"] == "textDocument/publishDiagnostics" and reply["params"]["uri"] == URI, reply
        return reply["params"]["diagnostics"]

    def end(self):
        self.send(method="exit")
        return self.server.wait()


def place(text, part, behind=0):
    """The line and the character of a part of a text."""
    at = text.index(part) + behind
    line = text.count("\n", 0, at)
    start = text.rfind("\n", 0, at) + 1
    return line, len(text[start:at].encode("utf-16-le")) // 2


def check_diagnostics(client):
    assert client.show("didOpen", text=TEXT) == []
    wrong = TEXT.replace("    bind(i1", "    bnd(i1")
    (one,) = client.show("didChange", text=wrong)
    assert one["code"] == "E0504" and one["severity"] == 1 and "did you mean `bind`" in one["message"], one
    assert one["range"]["start"] == dict(zip(("line", "character"), place(wrong, "bnd(i1"))), one
    behind_a_rocket = TEXT.replace("C[i] = A[i]", "C[i] = /\U0001f680/ A[i]")
    (one,) = client.show("didChange", text=behind_a_rocket)[:1]
    assert one["range"]["start"]["character"] in (11, 12), one
    (one,) = client.show("didChange", text="kernel")
    assert one["code"].startswith("E02"), one
    assert client.show("didChange", text="")[0]["code"] == "E0108"
    in_library = TEXT[: TEXT.index("schedule")] + "schedule vadd {\n    tile2d(C.i, C.i, 16, 16, 1, 1)\n}\n"
    found = client.show("didChange", text=in_library)
    assert found and all(one["range"]["start"]["line"] == 5 for one in found), found
    assert client.show("didChange", text=TEXT) == []


def check_names(client):
    split, bind = place(TEXT, "split("), place(TEXT, "bind(i0")
    page = client.at("textDocument/hover", *split)["contents"]["value"]
    assert "schedule primitive" in page and "split(loop" in page, page
    assert "ceildiv(n, 1024)" in page and "@block.x" not in page.split("Behind this directive")[1], page
    assert "@block.x" in client.at("textDocument/hover", *bind)["contents"]["value"].split("Behind")[1]
    where = client.at("textDocument/definition", *place(TEXT, "bind(i1", 6))
    assert where["range"]["start"] == dict(zip(("line", "character"), place(TEXT, "i1"))), where
    assert client.at("textDocument/definition", *place(TEXT, "split(", 1)) is None
    labels = {item["label"] for item in client.at("textDocument/completion", *bind)}
    assert {"vectorize", "fetch", "threads", "kernel", "f32", "thread"} <= labels, labels
    assert "E0504" not in labels
    nest = client.at("ingot/loopNest", *place(TEXT, "vectorize("))
    assert "@block.x" in nest and "@thread.x" in nest and "@vector" in nest, nest
    assert client.at("ingot/loopNest", 0, 3) is None
    assert client.at("textDocument/hover", 400, 3) is None


def check_grammar():
    """The grammar has a colour for every type of the reference."""
    grammar = json.loads((SOURCE / "tools/lsp/ingot.tmLanguage.json").read_text())
    (types,) = [p["match"] for p in grammar["patterns"] if p.get("name") == "storage.type.ingot"]
    section = (SOURCE / "docs/REFERENCE.md").read_text().split("\n## Types\n")[1].split("\n## ")[0]
    names = [row.split("`")[1] for row in section.splitlines() if row.startswith("| `")]
    assert len(names) > 10, names
    for name in names:
        assert re.search(types, name), name


def main():
    client = Client()
    capabilities = client.ask("initialize")["result"]["capabilities"]
    assert capabilities["hoverProvider"] and capabilities["textDocumentSync"] == 1, capabilities
    client.send(method="initialized", params={})
    check_diagnostics(client)
    check_names(client)
    assert client.show("didClose") == []
    assert client.at("textDocument/hover", 6, 6) is None
    assert client.ask("textDocument/nothing")["error"]["code"] == -32601
    assert client.ask("shutdown")["result"] is None
    assert client.ask("textDocument/hover")["error"]["code"] == -32600
    assert client.end() == 0

    # Without `shutdown`, and with what is no message, it ends with a status that says so.
    assert Client().end() != 0
    lost = subprocess.run([INGOT, "lsp"], input=b"Content-Length: 7\r\n\r\n{", stdout=subprocess.PIPE, check=False)
    assert lost.returncode != 0 and lost.stdout == b"", lost

    check_grammar()
    print("the answers are as they should be")


main()
