#!/usr/bin/env python3
"""Writes the listings of docs/TRACE.md again: what the compiler prints now.

    docs/trace/write.py build/dev/ingot            into docs/TRACE.md
    docs/trace/write.py build/dev/ingot --check    nothing; exit status 1, with the difference, if it is another

The text of the document is written by hand. Below a line `<!-- listing NAME -->` stands the listing of that
name, whose rows are in docs/trace/listings.
"""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "TRACE.md"
KERNEL = HERE / "gemm.ing"
INSTRUCTIONS = r"\b(?:mbarrier|wgmma|cp\.async|fence|bar|elect|setmaxnreg|st\.global)\.[\w.:]+"
MARK = re.compile(r"<!-- listing (\w+) -->\n(?:```\w*\n.*?^```\n)?", re.MULTILINE | re.DOTALL)


def run(*command):
    """What a command printed: (standard output, standard error). Ends with its message if it failed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(str(word) for word in command)}:\n{done.stderr}")
    return done.stdout, done.stderr


def repeated(lines):
    """The lines, with one line for neighbours that are equal."""
    result = []
    for line in lines:
        if result and result[-1][0] == line:
            result[-1][1] += 1
        else:
            result.append([line, 1])
    return [line if count == 1 else f"{line}    // {count} times" for line, count in result]


def printed(ingot):
    """The texts that listings are taken from, by step, as lists of lines."""
    with tempfile.TemporaryDirectory() as folder:
        build = [ingot, "build", KERNEL, "-o", folder, "--arch"]
        _, programs = run(*build, "sm_90a", "--emit", "ptx", "--print-after", "all")
        run(*build, "none", "--ptx", "sm_90a")
        ptx = "\n".join(path.read_text() for path in sorted(pathlib.Path(folder).glob("*.ptx")))
        header = (pathlib.Path(folder) / "gemm.h").read_text()
    texts = {"source": KERNEL.read_text(), "header": header}
    texts = {name: text.splitlines() for name, text in texts.items()}
    texts["ptx"] = repeated(re.findall(INSTRUCTIONS, ptx))
    texts["steps"] = []
    before = None
    for step, program in re.findall(r"^// after (\w+)\n(.*?)(?=^// after |\Z)", programs, re.MULTILINE | re.DOTALL):
        run_of_step = 1 + sum(name.split(":")[0] == step for name in texts)
        texts[step if run_of_step == 1 else f"{step}:{run_of_step}"] = program.splitlines()
        changed = "" if before in (None, program) else "changed"
        texts["steps"].append(f"{step:20}{changed}".rstrip())
        before = program
    return texts


def indent(line):
    """The number of spaces in front of a line."""
    return len(line) - len(line.lstrip())


def end_of(lines, first, last):
    """The number of the last line of a range that begins at `first`; None if there is none."""
    if not last:
        return first
    for number in range(first + 1, len(lines)):
        if last == "}" and indent(lines[number]) <= indent(lines[first]):
            return number if lines[number].lstrip().startswith("}") else number - 1
        if last != "}" and last in lines[number]:
            return number
    return None


def part(lines, row, first, last):
    """The lines of one row of a listing."""
    if not first:
        return lines
    begin = next((number for number, line in enumerate(lines) if first in line), None)
    end = None if begin is None else end_of(lines, begin, last)
    if end is None:
        sys.exit(f"docs/trace/listings: nothing fits `{row}`: choose other lines")
    return lines[begin : end + 1]


def listings(texts):
    """The lines of each listing, by name."""
    result = {}
    for row in (HERE / "listings").read_text().splitlines():
        if not row or row.startswith("#"):
            continue
        name, step, first, last = (word.strip() for word in row.split("|"))
        if step not in texts:
            sys.exit(f"docs/trace/listings: `{row}`: there is no step `{step}`")
        lines = part(texts[step], row, first, last)
        if name in result:
            result[name].append("...")
        result.setdefault(name, []).extend(lines)
    return result


def dedent(lines):
    """The lines without the spaces that all of them begin with."""
    least = min((indent(line) for line in lines if line.strip() not in ("", "...")), default=0)
    return [line if line == "..." else line[least:] for line in lines]


def document(text, parts):
    """The document with its listings as they are now."""
    unused = set(parts) - set(MARK.findall(text))
    if unused:
        sys.exit(f"docs/TRACE.md has no `<!-- listing ... -->` for: {', '.join(sorted(unused))}")

    def listing(match):
        name = match[1]
        if name not in parts:
            sys.exit(f"docs/trace/listings has no row for `{name}`")
        return "\n".join([f"<!-- listing {name} -->", "```", *dedent(parts[name]), "```", ""])

    return MARK.sub(listing, text)


def main():
    text = DOCUMENT.read_text()
    new = document(text, listings(printed(sys.argv[1])))
    if sys.argv[2:] != ["--check"]:
        DOCUMENT.write_text(new)
    elif new != text:
        sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), "docs/TRACE.md", "now"))
        sys.exit(1)


if __name__ == "__main__":
    main()
