#!/usr/bin/env python3
"""Stops at each mark of a generator (a gen fn), and compares what asyncdbg shows of its variables with what they have:
one that is not set or was moved out has no value or a mark.

usage: run_yields.py ASYNCDBG PROFILE

PROFILE  debug or release

Skipped without a rustc that knows gen blocks, which stable ones do with RUSTC_BOOTSTRAP=1.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTDATA / "make"))
from generated_program import read_options
from harness.session import Session

TICKET = "Ticket { id: 5, seat: 7 }"
BEGIN = {"n": "5", "ticket": TICKET}
SET = {**BEGIN, "inner": "10", "late": "6"}
MOVED = {"n": "5", "inner": "10", "late": "6"}
# At each mark what the variables have that have a value.
MARKS = [{"n": "5"}, BEGIN, BEGIN, SET, {**MOVED, "z": "7"}, {**MOVED, "z": "7"}, MOVED, MOVED]


def build(profile, folder):
    """The path of the program; None: this rustc cannot compile it."""
    command = ["rustc", "--edition", "2024", "-g", *(["-O"] if profile == "release" else []), "-o",
               f"{folder}/yields", TESTDATA / "unit/yields.rs"]
    try:
        subprocess.run(command, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{folder}/yields"


def compare(number, shown, truth):
    """The number of sure values."""
    sure = [each for each in shown if each["value"] is not None and not each["uncertain"]]
    for each in sure:
        if truth.get(each["name"]) != each["value"]:
            sys.exit(f"mark {number}: {each['name']} = {each['value']} instead of "
                     f"{truth.get(each['name'], 'no value')}")
    return len(sure)


def main():
    options = read_options()
    with tempfile.TemporaryDirectory() as folder:
        path = build(options.profile, folder)
        if not path:
            print("skipped: no rustc that compiles gen blocks")
            sys.exit(77)
        session = Session(options.asyncdbg)
        try:
            session.ask("break yields::mark")
            stop, sure = session.ask(f"run -- {path}")["stopped"], 0
            for number, truth in enumerate(MARKS):
                if stop["reason"] != "breakpoint":
                    sys.exit(f"mark {number} is not reached: {stop['reason']}")
                session.ask("frame 1")
                sure += compare(number, session.ask("locals")["native_frame"]["locals"], truth)
                stop = session.ask("continue")["stopped"]
        finally:
            session.close()
    if not sure:
        sys.exit("no value is shown without a mark")


if __name__ == "__main__":
    main()
