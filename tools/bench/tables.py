#!/usr/bin/env python3
"""Prints the results of a run as tables in Markdown.

    tools/bench/tables.py results.json
"""

import json
import sys


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + " --- |" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def against(row):
    """Each peer's figure, our speed over it, and the range of the rounds."""
    rates, cells = row.get("tflops") or row["gbs"], []
    for peer, ratio in row["ratios"].items():
        low, high = row["ranges"][peer][1:] if "ranges" in row else (ratio, ratio)
        goal = row.get("goals", {}).get(peer)
        mark = "**" if goal is not None and ratio >= goal else ""
        cells.append(f"{peer} {rates[peer]:.0f}: {mark}{ratio:.3f}{mark} ({low:.3f} to {high:.3f})")
    return "; ".join(cells)


def products(rows):
    table(("product", "TFLOP/s", "peers' TFLOP/s: our speed over theirs", "relative error"),
          [(r["case"], f"{r['tflops']['ingot']:.1f}", against(r),
            ", ".join(f"{n} {e['norm']:.2e}" for n, e in r["errors"].items())) for r in rows])


def memory(rows):
    table(("kernel", "GB/s", "peers' GB/s: our speed over theirs"),
          [(r["case"], f"{r['gbs']['ingot']:.0f}", against(r)) for r in rows])


def chains(rows):
    table(("chain", "microseconds (speed over the first)"),
          [(r["case"], ", ".join(f"{n} {us:.2f} ({r['of_the_first'][n]:.2f})" for n, us in r["us"].items()))
           for r in rows])


def ragged(rows):
    kernels = {}
    for r in rows:
        kernel, size = r["case"].rsplit(" ", 1)
        kernels.setdefault(kernel, []).append(f"{size}: {r['errors']['norm']:.1e}")
    table(("product", "size: relative error"), [(k, ", ".join(sizes)) for k, sizes in kernels.items()])


def main():
    with open(sys.argv[1]) as file:
        results = json.load(file)
    print(", ".join(f"{name} {value}" for name, value in results["facts"].items()), end="\n\n")
    good = [r for r in results["rows"] if "failed" not in r and "left out" not in r]
    for show, mine in ((products, lambda r: "tflops" in r), (memory, lambda r: "gbs" in r),
                       (chains, lambda r: "of_the_first" in r), (ragged, lambda r: r["part"] == "ragged")):
        rows = [r for r in good if mine(r)]
        if rows:
            show(rows)
    for row in results["rows"]:
        if "failed" in row:
            print(f"- failed: {row['case']}: {row['failed']}")


if __name__ == "__main__":
    main()
