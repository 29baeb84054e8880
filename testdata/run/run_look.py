#!/usr/bin/env python3
"""Looks at where the program `steps` stands while it is under control: source text and
machine code.

usage: run_look.py ASYNCDBG STEPS
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
TEXT = (PROGRAMS / "steps/src/main.rs").read_text().splitlines()
LIMIT = 300  # seconds until a test is given up


def line_of(text):
    """The number of the first line of the source that has the text."""
    return next(n for n, line in enumerate(TEXT, 1) if text in line)


SECOND = line_of("let second = orders.recv().await")


def expect(what, wanted, got):
    if got != wanted:
        sys.exit(f"{what}: {got!r} instead of {wanted!r}")


def ask(asyncdbg, steps, commands, orders="walk 0\n"):
    """The answers of commands, one a line, at the second await of the first walker."""
    first = [f"set source-map /src={PROGRAMS}", f"break main.rs:{SECOND}", f"run -- {steps}"]
    with tempfile.NamedTemporaryFile("w", suffix=".x") as script:
        script.write("\n".join([*first, *commands, "kill"]) + "\n")
        script.flush()
        done = subprocess.run([asyncdbg, "--jsonl", "-x", script.name], input=orders, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"schema"')]
    expect("the end", ("killed", 0), (answers[-1].get("stopped", {}).get("reason"), done.returncode))
    return answers[1:-1], done.stderr


def check_source(asyncdbg, steps):
    (stop, around, behind, before), _ = ask(asyncdbg, steps, ["list", "list", "list 1"])
    stop = stop["stopped"]
    expect("line", (SECOND, TEXT[SECOND - 1]), (stop["line"], stop["source"]))
    listing = around["listing"]
    expect("current line", SECOND, listing["current"])
    expect("path", str(PROGRAMS / "steps/src/main.rs"), listing["path"])
    expect("lines", list(range(SECOND - 5, SECOND + 5)), [line["line"] for line in listing["lines"]])
    lines = listing["lines"] + behind["listing"]["lines"] + before["listing"]["lines"]
    for line in lines:
        expect(f"line {line['line']}", TEXT[line["line"] - 1], line["text"])
    expect("lines in all", 30, len(lines))


def check_code(asyncdbg, steps):
    """The code has no breakpoint in it, and is of the line where the thread stands."""
    (stop, code, bare), _ = ask(asyncdbg, steps, ["disassemble /s", "disassemble"])
    rows = code["disassembly"]["instructions"]
    here = [row for row in rows if row["current"]]
    expect("current instructions", [(SECOND, stop["stopped"]["file"])], [(row["line"], row["file"]) for row in here])
    expect("breakpoints in the code", [], [row for row in here if row["bytes"] == "cc"])
    expect("function", True, "steps::walk" in code["disassembly"]["function"])
    ends = [int(row["address"], 16) + len(row["bytes"].split()) for row in rows]
    expect("addresses", [int(row["address"], 16) for row in rows[1:]], ends[:-1])
    expect("lines without /s", {None}, {row["line"] for row in bare["disassembly"]["instructions"]})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, steps = sys.argv[1:]
    check_source(asyncdbg, steps)
    check_code(asyncdbg, steps)
    print("ok")


main()
