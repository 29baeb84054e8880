#!/usr/bin/env python3
"""Stops at each mark and each await of programs that are made by chance, and compares what asyncdbg shows with what
the variables have: `locals` of the frame that runs, and the frames of running and suspended tasks.

usage: run_generated_values.py ASYNCDBG PROFILE [--seeds FIRST LAST]

PROFILE  debug or release
--seeds  the numbers of the programs, default 1 to 2

A value without a mark has to be that of a variable that is visible there and has it. In the debug build at most one
right value has a mark where SURE have none. What no await keeps has no value, rightly. An optimised program may pass
a mark without a stop. The programs are built under CARGO_TARGET_DIR; skipped without cargo.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generate_values import Program
from generated_program import build, read_options
from harness.session import Session

SURE = 3
LIMIT = 3600  # seconds until a program counts as hung


def locals_of(answer):
    """The variables in an answer of `locals`, wherever they are in it."""
    if isinstance(answer, list):
        return [each for part in answer for each in locals_of(part)]
    if not isinstance(answer, dict):
        return []
    if "uncertain" in answer and "passed_in" in answer:
        return [answer]
    return [each for part in answer.values() for each in locals_of(part)]


class Count:
    def __init__(self):
        self.stops = self.wrong = self.sure = self.marked = self.none = 0

    def __str__(self):
        return (f"{self.stops} stops, {self.wrong} wrong values, {self.sure} sure ones, {self.marked} right ones "
                f"with a mark, {self.none} not shown")


def compare(where, truth, shown, count):
    names = set()
    count.stops += 1
    for each in shown:
        name, value = each["name"], each["value"]
        names.add(name)
        if value is None:
            count.none += name in truth and truth[name] is not None
        elif each["uncertain"]:
            count.marked += name in truth and truth[name] == value
        elif name.startswith("v") or name == "n":
            count.sure += 1
            if truth.get(name) != value:
                count.wrong += 1
                print(f"{where}: {name} = {value} instead of {truth.get(name, 'no variable')}")
    count.none += sum(name not in names for name, value in truth.items() if value is not None)


class Walk:
    def __init__(self, asyncdbg):
        self.asyncdbg = asyncdbg
        self.counts = {each: Count() for each in ("frames", "running tasks", "suspended tasks")}

    def look(self, session, moment):
        if not moment.is_suspended:
            compare(f"frame in line {moment.line}", moment.truth, locals_of(session.ask("locals")),
                    self.counts["frames"])
        if not moment.task:
            return
        session.ask(f"task {moment.task}")
        count = self.counts["suspended tasks" if moment.is_suspended else "running tasks"]
        compare(f"task in line {moment.line}", moment.truth, locals_of(session.ask("locals")), count)

    def execute(self, program, path, may_pass):
        session = Session(self.asyncdbg, "--no-cache", limit=LIMIT)
        try:
            for line in {program.resting, *(each.line for each in program.moments if not each.is_suspended)}:
                session.ask(f"break main.rs:{line}")
            stop = session.ask(f"run -- {path}")["stopped"]
            moments = iter(program.moments)
            while stop["reason"] == "breakpoint":
                at = next((each for each in moments
                           if (program.resting if each.is_suspended else each.line) == stop["line"]), None)
                if at is None:
                    print(f"line {stop['line']} is not expected")
                    self.counts["frames"].wrong += not may_pass
                    break
                self.look(session, at)
                stop = session.ask("continue")["stopped"]
            session.end()
        finally:
            session.close()


def main():
    options = read_options([1, 2])
    walk = Walk(options.asyncdbg)
    for seed in options.numbers:
        program = Program(seed)
        print(f"program {seed}", flush=True)
        path = build(program.text, options.profile, "generated_values", 2024)
        walk.execute(program, path, options.profile == "release")
    for name, count in walk.counts.items():
        print(f"{name}: {count}")
    counts = walk.counts.values()
    too_many = options.profile == "debug" and sum(c.marked for c in counts) * SURE > sum(c.sure for c in counts)
    sys.exit(1 if any(c.wrong or not c.stops for c in counts) or too_many else 0)


if __name__ == "__main__":
    main()
