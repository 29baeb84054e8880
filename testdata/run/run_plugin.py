#!/usr/bin/env python3
"""Sets breakpoints in a library that the program loads only later, and unloads again.

usage: run_plugin.py ASYNCDBG HOST LIBRARY APART_HOST APART_LIBRARY

APART_HOST and APART_LIBRARY are compiled in folders of their own, each from its src/part.rs.
"""
import os
import pathlib
import sys

from harness.checks import expect
from harness.dap import Client
from harness.session import run_commands, stops
from harness.steps import line_in

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "plugin/plugin.rs"
LINE = line_in(SOURCE, "plain(twice)")
TIMES = 3


def rows(answers):
    return [answer["breakpoints"] for answer in answers if answer["command"] == "info breakpoints"]


def check_pending(asyncdbg, program):
    """Each time that the library is loaded they have places, and each time that it is unloaded none."""
    commands = [f"run --stop -- {program}", f"break plugin.rs:{LINE}", "break plugin::work", "break plugin::plain",
                "logpoint plugin::generic 'n is {n}'", "break plugin::absent", "info breakpoints",
                *["continue"] * (3 * TIMES), "info breakpoints", "continue"]
    answers, done = run_commands(asyncdbg, commands)
    before, after = rows(answers)
    expect("errors", 0, done.returncode)
    expect("pending at first", [True] * 5, [row["pending"] for row in before])
    for row in before:
        if row["places"] or "when a library that has it is loaded" not in row["note"]:
            sys.exit(f"a breakpoint of a library that is not there: {row}")
    numbers = [stop["breakpoint"] for stop in stops(answers)[1:]]
    expect("stops", [2, 1, 3] * TIMES + [None], numbers)
    expect("lines", [LINE] * TIMES, [stop["line"] for stop in stops(answers) if stop["breakpoint"] == 1])
    expect("logpoints", TIMES - 1, sum("logged" in answer for answer in answers[:answers.index(
        next(a for a in answers if a["command"] == "info breakpoints" and a["breakpoints"] == after))]))
    expect("pending while it is loaded", [False] * 4 + [True], [row["pending"] for row in after])
    expect("hits", [TIMES] * 3, [row["hits"] for row in after[:3]])
    expect("what it prints", [str(2 * n + 3) for n in range(TIMES)],
           [line for line in done.stdout.splitlines() if line.isdigit()])
    expect("its end", ("exited", 0), (stops(answers)[-1]["reason"], stops(answers)[-1]["status"]))
    expect("words", 4 * TIMES, done.stderr.count(" resolved: "))


def check_step(asyncdbg, program):
    """A step over the call that loads it goes on."""
    answers, _ = run_commands(asyncdbg, ["break host::call", "break plugin::absent", f"run -- {program}", "next", "next", "kill"])
    expect("steps over dlopen", ["breakpoint", "step", "step", "killed"], [stop["reason"] for stop in stops(answers)])


def check_restart(asyncdbg, program):
    answers, _ = run_commands(asyncdbg, ["break plugin::plain", f"run -- {program}", "kill", "run", "info breakpoints", "kill"])
    expect("started again", ["breakpoint", "killed"] * 2, [stop["reason"] for stop in stops(answers)])
    expect("hits of this program", 1, rows(answers)[0][0]["hits"])


def check_editor(asyncdbg, host, library):
    """An editor hears when a breakpoint has a place, and when it has none any more."""
    client = Client([asyncdbg, "dap"])
    found = client.start("launch", program=host, args=[library, "2"], breakpoints={str(SOURCE): [LINE]},
                         functions=["plugin::absent"])
    (line,), (absent,) = found
    for breakpoint in (line, absent):
        expect("at first", (False, "pending"), (breakpoint["verified"], breakpoint["reason"]))
    for _ in range(2):
        stop = client.event("stopped", reason="breakpoint")
        changed = client.event("breakpoint", reason="changed")["breakpoint"]
        expect("which", ([line["id"]], line["id"]), (stop["hitBreakpointIds"], changed["id"]))
        expect("its place", (True, LINE, str(SOURCE)), (changed["verified"], changed["line"], changed["source"]["path"]))
        order = [e["event"] for e in client.all_events if e["event"] in ("breakpoint", "stopped")]
        expect("the place comes first", ["breakpoint", "stopped"], order[-2:])
        client.request("continue", threadId=1)
        gone = client.event("breakpoint", reason="changed")["breakpoint"]
        expect("unloaded", (line["id"], False, "pending"), (gone["id"], gone["verified"], gone["reason"]))
    client.event("terminated")
    client.end()


def check_age(asyncdbg, program, host, library):
    """A source is compared with the library that has its code, which may be newer than the program that loads it."""
    source = SOURCE.stat().st_mtime
    for age, wanted in (100, False), (-100, True):
        os.utime(host, (source - 200, source - 200))
        os.utime(library, (source + age, source + age))
        _, done = run_commands(asyncdbg, ["break plugin::plain", f"run -- {program}", "kill"])
        expect("newer than the program", 0, done.stderr.count("newer than the program"))
        expect("newer than the library", wanted, f"newer than {library}" in done.stderr)


def check_names(asyncdbg, host, library):
    """The name of a file tells it from a file of the same name in another crate, whichever library that is in."""
    answers, _ = run_commands(asyncdbg, ["break host::call", "break plugin::plain", f"run -- {host} {library} 1", "continue", "kill"])
    expect("files", ["src/part.rs", "extra/src/part.rs"], [stop["file"] for stop in stops(answers) if stop["reason"] != "killed"])


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    asyncdbg, program = sys.argv[1], f"{sys.argv[2]} {sys.argv[3]} {TIMES}"
    check_pending(asyncdbg, program)
    check_step(asyncdbg, program)
    check_restart(asyncdbg, program)
    check_editor(asyncdbg, *sys.argv[2:4])
    check_age(asyncdbg, program, *sys.argv[2:4])
    check_names(asyncdbg, *sys.argv[4:])
    print("breakpoints in libraries: all as they should be")


if __name__ == "__main__":
    main()
