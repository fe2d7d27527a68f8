"""Runs what pages of documentation show: pages.py INGOT PAGE...

A block of four spaces behind a line that names a file, `NAME.ing`, and ends in ":" is written to that file. In a block
whose first line begins with "$ " such lines are commands, and what stands below each is what it prints; "..." is any text
within a line, and alone any lines. A command ends with status 0, unless "# fails" stands behind it. Each page has a
folder of its own, with `runtime/` in it.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

INGOT = pathlib.Path(sys.argv[1]).resolve()


def blocks(text):
    """The blocks of a page: the number of the first line, the line in front of it, and its lines."""
    lines, block, start, above, paragraph = text.splitlines() + ["end"], [], 0, "", ""
    for number, line in enumerate(lines, 1):
        is_command = line.startswith("    $ ")
        if is_command and block and not block[0].startswith("$ "):
            yield start, above, block
            block, paragraph = [], ""
        if line.startswith("    ") or (not line and block):
            start, above = (start, above) if block else (number, paragraph)
            block.append(line[4:])
            continue
        while block and not block[-1]:
            block.pop()
        if block:
            yield start, above, block
            block = []
        paragraph = line or paragraph


def pattern(lines):
    """A regular expression for what should be printed."""
    text = ""
    for line in lines:
        if line.strip() == "...":
            text += r"(?:.*\n)*?"
        else:
            text += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return text


def run(page, number, command, wanted, folder):
    """Run a command, and compare what it prints. Returns whether all is well."""
    command, fails = re.subn(r"\s+# fails$", "", command)
    environment = {**os.environ, "PATH": f"{INGOT.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    printed = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
    good = re.fullmatch(pattern(wanted) if wanted else r"(?:.*\n)*", printed)
    if (done.returncode != 0) == bool(fails) and good:
        return True
    print(f"{page}:{number}: `{command}` ends with {done.returncode} and prints\n{done.stdout}")
    return False


def check(page):
    """Run a page. Returns how many commands ran, and how many were not as shown."""
    ran = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "runtime").symlink_to(pathlib.Path(__file__).resolve().parents[2] / "runtime")
        for number, above, block in blocks(pathlib.Path(page).read_text()):
            names = re.findall(r"`([\w/-]+\.\w+)`", above) if above.endswith(":") else []
            if names and not block[0].startswith("$ "):
                path = pathlib.Path(folder, names[-1])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(block).rstrip() + "\n")
                continue
            starts = [i for i, line in enumerate(block) if line.startswith("$ ")]
            for i, end in zip(starts, starts[1:] + [len(block)]) if block[0].startswith("$ ") else []:
                wanted = block[i + 1:end]
                while wanted and not wanted[-1]:
                    wanted.pop()
                ran += 1
                wrong += not run(page, number + i, block[i][2:], wanted, folder)
    return ran, wrong


def main():
    total = failed = 0
    for page in sys.argv[2:]:
        ran, wrong = check(page)
        if not ran:
            print(f"{page}: no command was run")
        total, failed = total + ran, failed + wrong + (ran == 0)
    print(f"{len(sys.argv) - 2} pages, {total} commands, {failed} faults")
    sys.exit(failed != 0 or total == 0)


main()
