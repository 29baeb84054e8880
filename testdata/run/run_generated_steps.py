#!/usr/bin/env python3
"""Steps through programs that are made by chance, and compares the lines where `next` stops with those that the
programs say they have executed.

usage: run_generated_steps.py ASYNCDBG PROFILE [--seeds FIRST LAST]

PROFILE  debug or release: in that one the functions that are not async are left out, as the line table has not
         all of their lines, and a few steps may end as "left" behind right lines
--seeds  the numbers of the programs, default 1 to 3

The programs are built under CARGO_TARGET_DIR; skipped without cargo.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generate_steps import Program
from generated_program import build, read_options
from harness.session import Ended, Hung, Session

STEPS = 120
LEFT = 6  # at most one in so many functions of optimised code may end as "left"


def is_own(function, stop):
    return (stop["file"] or "").endswith("main.rs") and function.first <= (stop["line"] or 0) <= function.last


def walk(session, function, path):
    """The lines of the function where the steps stop, and the end. No lines: it is not executed."""
    session.ask(f"tbreak main.rs:{function.first}")
    stop = session.ask(f"run -- {path}")["stopped"]
    lines, name = [], stop["function"] if is_own(function, stop) else None
    while name and len(lines) < STEPS and stop["reason"] in ("breakpoint", "step") and stop["function"] == name:
        lines.append(stop["line"])
        stop = session.ask("next")["stopped"]
    return lines, stop


def collapse(lines):
    """A line that says something several times is one."""
    return [line for i, line in enumerate(lines) if not i or lines[i - 1] != line]


def is_within(said, lines):
    rest = iter(lines)
    return all(line in rest for line in said)


def fits(said, stops, begins):
    """Code may go back to a line for a part of it. begins: the stops are those of its beginning alone."""
    ends = [n for n, line in enumerate(said, 1) if line == stops[-1]] if begins else [len(said)]
    return set(stops) <= set(said) and any(is_within(said[:n], stops) for n in ends)


def says(program, line):
    return "me." in program.lines[line - 1] or "self.0.at()" in program.lines[line - 1]


def is_of(function, said):
    return function.first <= said[0] <= function.last


def check(asyncdbg, program, function, path, profile):
    """What is wrong, "left", or "" if nothing is; None if the function is not executed."""
    session = Session(asyncdbg)
    try:
        lines, end = walk(session, function, path)
        if end["reason"] != "exited" and session.ask("continue")["stopped"]["reason"] != "exited":
            return "the program does not end"
        session.end()
    except Hung:
        return "hung"
    except Ended as ended:
        return f"asyncdbg has ended: {ended}"
    finally:
        session.close()
    if not lines:
        return None
    left = profile == "release" and end["reason"] == "left"
    stops = collapse([line for line in lines if says(program, line)])
    truth = [collapse(said) for said in (session.truth or {}).values() if is_of(function, said)]
    if any(fits(said, stops, left or len(lines) == STEPS) for said in truth):
        return "left" if left else ""
    return f"lines {stops} of {truth[:3]}, end {end['reason']} {(end['step'] or {}).get('note')}"


def main():
    options = read_options([1, 3])
    done = wrong = left = 0
    for seed in options.numbers:
        program = Program(seed)
        path = build(program.text, options.profile, "generated", 2021, "programs/stepping/src/record.rs")
        for function in program.functions:
            if options.profile == "release" and not function.is_async:
                continue
            problem = check(options.asyncdbg, program, function, path, options.profile)
            done += problem is not None
            left += problem == "left"
            if problem and problem != "left":
                wrong += 1
                print(f"program {seed}, f{function.number} ({function.kind}): {problem}")
    print(f"{done} functions, {left} left, {wrong} wrong")
    sys.exit(1 if wrong or not done or left * LEFT > done else 0)


if __name__ == "__main__":
    main()
