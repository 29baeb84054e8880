#!/usr/bin/env python3
"""Stops in a coroutine that is being polled, and asks for its variables: in optimised code its memory has those that
live across an await, with the mark that a register may have a newer value; the others are listed by name.

usage: run_polled.py ASYNCDBG PROFILE

PROFILE  debug or release

The program is built under CARGO_TARGET_DIR; skipped without cargo.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generated_program import TESTDATA, build, read_options
from harness.checks import expect
from harness.session import Session

# The variables at the two stops: the value now, or the value with which the poll began.
STOPS = [{"first": {"5"}, "rounds": {"1", "2"}, "sum": {"8", "5"}, "label": {"77"}, "step": {"3"}},
         {"first": {"5"}, "rounds": {"0", "1"}, "sum": {"10", "8"}, "label": {"77"}, "step": {"2"}}]
KEPT = {"first", "rounds", "sum", "label"}  # over the await


def check(where, shown, truth, profile):
    found = {each["name"]: each for each in shown}
    expect(f"{where}: names", set(truth), set(found) & set(truth))
    for name, values in truth.items():
        each = found[name]
        if name in KEPT or profile == "debug":
            expect(f"{where}: {name} has a value of {values}", True, each["value"] in values)
        if each["value"] is None:
            expect(f"{where}: the reason of {name}", True, "optimised out" in each["problem"])
        elif each.get("may_be_stale"):
            expect(f"{where}: {name} is in doubt", True, each["uncertain"])
            expect(f"{where}: {name} is marked in code of", "release", profile)
        else:
            now = sorted(values)[0] if name in ("rounds", "first", "label", "step") else max(values, key=int)
            expect(f"{where}: {name} now", now, each["value"])


def main():
    options = read_options()
    source = TESTDATA / "programs/values/src/bin/polled.rs"
    path = build(source.read_text(), options.profile, "polled", 2021)
    session = Session(options.asyncdbg)
    try:
        session.ask("break generated::mark")
        stop = session.ask(f"run -- {path}")["stopped"]
        for truth in STOPS:
            expect("stop", "breakpoint", stop["reason"])
            session.ask("frame 1")
            check("frame", session.ask("locals")["native_frame"]["locals"], truth, options.profile)
            session.ask("task 1")
            check("task", session.ask("locals")["frame"]["locals"], truth, options.profile)
            printed = session.ask("print label")
            expect("print", "77", printed["printed"]["value"])
            stop = session.ask("continue")["stopped"]
        expect("end", "exited", stop["reason"])
    finally:
        session.close()


if __name__ == "__main__":
    main()
