#!/usr/bin/env python3
"""Stops and steps in tasks of a runtime that comes with a library, which the program loads only later.

usage: run_plugged.py ASYNCDBG HOST LIBRARY
"""
import json
import pathlib
import sys

from run_plugin import expect, run, stops

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "plugged/src/lib.rs"
TIMES = 2


def line_of(text):
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def root_of(tasks):
    return [task["type"].rpartition("::")[0] for task in tasks]


def check_tasks(asyncdbg, program):
    """Its tasks are listed, and a step follows one over its awaits."""
    commands = ["break plugged::job", f"run -- {program}", "tasks", "runtimes", "next", "next", "next", "next",
                "continue", "tasks", "delete 1", "continue"]
    answers, done = run(asyncdbg, commands)
    expect("errors", (0, ""), (done.returncode, "" if done.returncode == 0 else done.stderr))
    first = line_of("half(n).await")
    seen = stops(answers)
    expect("lines", list(range(first, first + 5)), [stop["line"] for stop in seen[:5]])
    expect("reasons", ["breakpoint", *["step"] * 4, "breakpoint", "exited"], [stop["reason"] for stop in seen])
    expect("a task", True, seen[0]["task"] is not None)
    expect("of one task", {seen[0]["task"]}, {stop["task"] for stop in seen[:5]})
    listed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"id"')]
    expect("tasks", ["plugged::idle", "plugged::job"] * 2, sorted(root_of(listed[:2])) + sorted(root_of(listed[2:])))
    runtimes = next(answer for answer in answers if answer["command"] == "runtimes")["runtimes"]
    expect("runtimes", ["tokio"], [runtime["kind"] for runtime in runtimes])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    check_tasks(sys.argv[1], f"{sys.argv[2]} {sys.argv[3]} {TIMES}")
    print("runtimes in libraries: all as they should be")


main()
