#!/usr/bin/env python3
"""Watches variables of functions and coroutines up to their ends: of blocks, of rounds of a loop, captured, moved out and
dropped ones. What comes into their bytes later is never reported as a change of them.

usage: run_watch_ends.py ASYNCDBG PROFILE

PROFILE  debug or release

In the optimised program a variable may be in a register, which cannot be watched, or have its value before the stop. It
is built under CARGO_TARGET_DIR; skipped without cargo.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generated_program import TESTDATA, build, read_options
from harness.session import Ended, Session

ENDS = {
    "returned": {"its function has returned"},
    # Where nothing else gets the bytes, the end of the function is seen.
    "scope": {"its scope has ended", "its function has returned"},
    "gone": {"its function is not on the stack any more"},
    "dropped": {"its future was dropped"},
}
# The code that drops a coroutine may be inlined: its memory tells that it is gone.
GONE = {"its future is gone", "its future is gone: another one is in its memory"}
UNWATCHED = ("a register cannot be watched", "it has no value at this instruction")


def read_cases(source):
    """Of each stop the line, the expression, the values, the name of the end and the task, or None."""
    for number, line in enumerate(source.splitlines(), 1):
        found = re.search(r"look\(\d+\); // (?:task (\d+) )?([\w.]+): (.*?) ?(\w+)$", line)
        if found:
            yield number, found.group(2), found.group(3).split(), found.group(4), found.group(1)


def watch(asyncdbg, path, line, expression, task):
    """The values that it gets, and why it ends; None: it is in a register. task: which has it, suspended; None: it is in
    the frame that stops."""
    session = Session(asyncdbg)
    values = []
    try:
        session.ask(f"tbreak main.rs:{line}")
        session.ask(f"run -- {path}")
        try:
            if task:
                session.ask(f"task {task}")
            session.ask(f"watch {expression}")
        except Ended as ended:
            unwatched = any(text in str(ended) for text in UNWATCHED)
            return [], None if unwatched else str(ended).strip().splitlines()[-1]
        while True:
            stop = session.ask("continue")["stopped"]
            if stop["reason"] != "watchpoint":
                return values, f"the program: {stop['reason']}"
            if stop["watchpoint"]["ended"]:
                break
            values.append(stop["watchpoint"]["new"])
        session.end()
    finally:
        session.close()
    return values, stop["watchpoint"]["ended"].split(": ", 1)[1]


def refusal(asyncdbg, path, line, types):
    """Why the last one of these types cannot be watched beside `number` and the others."""
    session = Session(asyncdbg)
    try:
        session.ask(f"tbreak main.rs:{line}")
        session.ask(f"run -- {path}")
        place = int(session.ask("watch number")["watchpoints"][0]["address"], 16)
        for number, each in enumerate(types, 1):
            session.ask(f"watch '{place + 256 * number:#x} as {each}'")
    except Ended as ended:
        return str(ended)
    finally:
        session.close()
    return "it is watched"


def count_refused(asyncdbg, path, line):
    """How many refusals do not say how many hardware breakpoints are needed, and how many are free."""
    vec = "alloc::vec::Vec<u64, alloc::alloc::Global>"
    wrong = 0
    for types, wanted in (((vec, "u64"), "takes 1 hardware breakpoint, and none is free"),
                          (("u64", vec), "take 3 hardware breakpoints, and 2 are free")):
        why = refusal(asyncdbg, path, line, types)
        if wanted not in why:
            print(f"beside {types}: {why}, and not {wanted}")
            wrong += 1
    return wrong


def main():
    options = read_options()
    source = (TESTDATA / "programs/values/src/bin/watched.rs").read_text()
    path = build(source, options.profile, "watched", 2021)
    is_optimised = options.profile == "release"
    cases = list(read_cases(source))
    wrong, held = count_refused(options.asyncdbg, path, cases[0][0]), 0
    for line, expression, values, end, task in cases:
        seen, why = watch(options.asyncdbg, path, line, expression, task)
        held += why is None
        if why is None and is_optimised:
            continue
        if seen != values or why not in ENDS[end] | (GONE if is_optimised else set()):
            print(f"line {line}, {expression}: {seen}, {why}, and not {values}, {end}")
            wrong += 1
    print(f"{held} in registers, {wrong} not as expected")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
