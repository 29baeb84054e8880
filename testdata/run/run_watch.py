#!/usr/bin/env python3
"""Debugs the program `steps` without a write to its code (--production): breakpoints are hardware
breakpoints, values are watched, and kill -9 of asyncdbg leaves it as it was.

usage: run_watch.py ASYNCDBG STEPS
"""
import sys

from harness.checks import SKIPPED, expect
from harness.session import LIMIT, attach_session, run_commands, stops
from harness.steps import FIRST, SECOND, Steps, line_of

KILLS = 5    # tracer_watch_test.c has the hundred


def check_permitted(asyncdbg, steps):
    _, done = run_commands(asyncdbg, [f"run --stop --production -- {steps}", "kill"])
    if "no hardware breakpoint" in done.stderr:
        print(f"skipped: {done.stderr}")
        sys.exit(SKIPPED)
    expect("first line", True, "nothing is written into its code" in done.stderr)


def check_production(asyncdbg, steps):
    """As many breakpoints as there are, each hit once."""
    commands = [f"run --stop --production -- {steps}", f"break main.rs:{SECOND}", f"break main.rs:{FIRST}",
                *["continue"] * 8, "kill"]
    answers, done = run_commands(asyncdbg, commands, "walk 0\nwalk 3\nwalk 0\n")
    expect("errors", 0, done.returncode)
    # All five walkers, then the orders; the program ends with its input.
    expect("lines", [FIRST] * 5 + [SECOND] * 2 + [FIRST],
           [stop["line"] for stop in stops(answers)[1:] if stop["reason"] == "breakpoint"])
    lines = [line_of(text) for text in ("let mut end = ", "orders.recv().await;", "let mut steps = 0", "rest(steps)")]
    _, done = run_commands(asyncdbg, [f"run --stop --production -- {steps}", "break walk",
                             *[f"break main.rs:{line}" for line in lines], "kill"])
    expect("one too many", True, "all 4 hardware breakpoints of this CPU are in use" in done.stderr)


def check_watched(asyncdbg, steps):
    """Each change of a static and of the state of a future, with the value before and after."""
    program = Steps(steps)
    session = attach_session(asyncdbg, program.pid)
    session.ask("attach")
    session.ask(f"task {program.ids[1]}")
    state = session.ask("watch --state")["watchpoints"][0]
    expect("state", (program.ids[1], True), (state["task"], state["value"].endswith(f":{FIRST}")))
    static = session.ask("watch steps::LINE")["watchpoints"][0]
    expect("static", (2, 4, str(FIRST)), (static["number"], static["size"], static["value"]))
    for old, new in ((FIRST, SECOND), (SECOND, FIRST)):
        program.order("walk 1")
        for number in (2, 1):
            stop = session.ask("continue")["stopped"]
            seen = stop["watchpoint"]
            expect("stop", ("watchpoint", program.ids[1], number), (stop["reason"], stop["task"], seen["number"]))
            expect("values", (str(old), str(new)), tuple(seen[key].split(":")[-1] for key in ("old", "new")))
    # The others go to SECOND, one by one: the value changes once.
    for number in (2, 3, 4):
        program.order(f"walk {number}")
    session.ask("disable 1")
    expect("new value", str(SECOND), session.ask("continue")["stopped"]["watchpoint"]["new"])
    session.send("continue")
    for _ in range(5):
        program.process.stdout.readline()
    program.order("walk 1")
    program.order("walk 1")
    seen = session.answer()["stopped"]["watchpoint"]
    expect("the same value is passed over", (str(SECOND), str(FIRST)), (seen["old"], seen["new"]))
    listed = session.ask("info breakpoints")["watchpoints"]
    expect("enabled", [False, True], [watch["enabled"] for watch in listed])
    expect("hits", [(2, 0), (4, 3)], [(watch["hits"], watch["unchanged"]) for watch in listed])
    expect("deleted", None, session.ask("delete").get("watchpoints"))
    session.send("detach")
    session.process.stdin.close()
    expect("asyncdbg", 0, session.process.wait(LIMIT))
    program.process.stdout.readline()
    program.process.stdout.readline()
    expect("code", True, program.read_code() == program.code)
    program.obey("walk 0")
    program.end()


def check_conditions(asyncdbg, steps):
    """Changes count if the condition is true: of the value, and of the task that writes."""
    program = Steps(steps)
    session = attach_session(asyncdbg, program.pid)
    session.ask("attach")
    row = session.ask(f"watch steps::LINE if steps::LINE == {SECOND}")["watchpoints"][0]
    expect("row", ("write", f"steps::LINE == {SECOND}", 0), (row["access"], row["condition"], row["hits"]))
    for _ in range(3):
        program.order("walk 1")
    for _ in range(2):
        seen = session.ask("continue")["stopped"]["watchpoint"]
        expect("of the value", (1, True, str(FIRST), str(SECOND)),
               tuple(seen[key] for key in ("number", "changed", "old", "new")))
    for order in ("walk 2", "walk 2", "walk 3"):
        program.order(order)
    row = session.ask(f"condition 1 task.id == {program.ids[3]} && steps::LINE > 0")["watchpoints"][0]
    expect("its condition", f"task.id == {program.ids[3]} && steps::LINE > 0", row["condition"])
    stop = session.ask("continue")["stopped"]
    expect("of the task", (program.ids[3], str(FIRST), str(SECOND)),
           (stop["task"], stop["watchpoint"]["old"], stop["watchpoint"]["new"]))
    expect("hits", 3, session.ask("info breakpoints")["watchpoints"][0]["hits"])
    expect("none", None, session.ask("condition 1")["watchpoints"][0]["condition"])
    session.ask("delete")
    row = session.ask("watch --after 1 --every 2 steps::LINE")["watchpoints"][0]
    expect("row", (1, 2), (row["after"], row["every"]))
    for order in ("walk 1", "walk 1", "walk 1"):
        program.order(order)
    expect("the third", str(SECOND), session.ask("continue")["stopped"]["watchpoint"]["old"])
    session.send("detach")
    session.process.stdin.close()
    expect("asyncdbg", 0, session.process.wait(LIMIT))
    program.end()


def check_together(asyncdbg, steps):
    """Two watchpoints of one value, and a breakpoint at the instruction behind: one stop shows them all."""
    program = Steps(steps)
    session = attach_session(asyncdbg, program.pid)
    session.ask("attach")
    session.ask("watch steps::LINE")
    session.ask("awatch steps::LINE if task.id > 0")
    program.order("walk 1")
    stop = session.ask("continue")["stopped"]
    expect("both", ("watchpoint", 1, [1, 2]), (stop["reason"], stop["watchpoint"]["number"],
                                               [seen["number"] for seen in stop["watchpoints"]]))
    expect("no breakpoint", (None, []), (stop["breakpoint"], stop["breakpoints"]))
    registers = session.ask("info registers")["registers"]
    pc = registers.get("rip") or registers["pc"]
    session.ask(f"break {pc}")
    session.ask(f"tbreak {pc}")
    for order in ("walk 1", "walk 1"):
        program.order(order)
    # In optimised code each store is an instruction of its own.
    stop = session.ask("continue")["stopped"]
    if not stop["breakpoints"]:
        stop = session.ask("continue")["stopped"]
    expect("all four", ("watchpoint", [1, 2], 3, [3, 4]),
           (stop["reason"], [seen["number"] for seen in stop["watchpoints"]], stop["breakpoint"], stop["breakpoints"]))
    expect("one is gone", [(3, 1)], [(row["number"], row["hits"])
                                     for row in session.ask("info breakpoints")["breakpoints"]])
    session.ask("delete 1")
    session.ask("delete 2")
    for order in ("walk 1", "walk 1"):
        program.order(order)
    stop = session.ask("continue")["stopped"]
    expect("the next is another hit", ("breakpoint", [], [3]),
           (stop["reason"], stop["watchpoints"], stop["breakpoints"]))
    session.send("detach")
    session.process.stdin.close()
    expect("asyncdbg", 0, session.process.wait(LIMIT))
    program.end()


def check_reads(asyncdbg, steps):
    """The main thread reads what a walker has written."""
    program = Steps(steps)
    session = attach_session(asyncdbg, program.pid)
    session.ask("attach")
    expect("access", "read", session.ask("rwatch steps::LINE")["watchpoints"][0]["access"])
    for _ in range(2):
        program.order("walk 1")
    for value in (SECOND, FIRST):
        stop = session.ask("continue")["stopped"]
        seen = stop["watchpoint"]
        expect("a read", (None, "read", False, str(value)), (stop["task"], seen["access"], seen["changed"], seen["new"]))
    session.ask("delete")
    expect("access", "read_write", session.ask("awatch steps::LINE")["watchpoints"][0]["access"])
    session.ask("watch steps::LINE")
    for _ in range(2):
        program.order("walk 1")
    for changed, value in ((True, SECOND), (False, SECOND), (True, FIRST), (False, FIRST)):
        seen = session.ask("continue")["stopped"]["watchpoint"]
        expect("an access", (2, changed, str(value)), (seen["number"], seen["changed"], seen["new"]))
    expect("hits of both", [4, 2], [row["hits"] for row in session.ask("info breakpoints")["watchpoints"]])
    session.send("detach")
    session.process.stdin.close()
    expect("asyncdbg", 0, session.process.wait(LIMIT))
    program.end()


def check_refused(asyncdbg, steps):
    """Conditions of which a path has no place."""
    _, done = run_commands(asyncdbg, [f"run --stop -- {steps}", "watch steps::LINE if no_such == 3", "kill"])
    expect("a path that is nowhere", True, "no_such" in done.stderr)
    _, done = run_commands(asyncdbg, [f"run --stop -- {steps}", "watch steps::LINE if steps::LINE ==", "kill"])
    expect("half a condition", True, "condition" in done.stderr)


def check_killed(asyncdbg, steps, commands, order):
    """asyncdbg ends by kill -9, while the program stands at a hit and while it runs."""
    program = Steps(steps)
    for number in range(KILLS):
        session = attach_session(asyncdbg, program.pid)
        session.ask("attach --production")
        for command in commands:
            session.ask(command)
        expect("bytes in the code", True, program.read_code() == program.code)
        program.order(order)
        session.ask("continue")
        if number % 2:
            session.send("continue")
            program.order(order)
        session.process.kill()
        session.process.wait(LIMIT)
        expect("code", True, program.read_code() == program.code)
        program.obey(order)
        while number % 2 and "done" not in program.process.stdout.readline():
            pass
        program.process.stdout.readline()
    program.end()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, steps = sys.argv[1:]
    check_permitted(asyncdbg, steps)
    check_production(asyncdbg, steps)
    check_watched(asyncdbg, steps)
    check_conditions(asyncdbg, steps)
    check_together(asyncdbg, steps)
    check_reads(asyncdbg, steps)
    check_refused(asyncdbg, steps)
    check_killed(asyncdbg, steps, [f"break main.rs:{FIRST}", f"break main.rs:{SECOND}"], "walk 1")
    check_killed(asyncdbg, steps, ["watch steps::LINE"], "walk 1")
    print("without a write to its code: all as it should be")


main()
