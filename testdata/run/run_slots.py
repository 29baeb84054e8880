#!/usr/bin/env python3
"""Stops where variables that are borrowed, and so have a place in the frame, are set, not set yet, or kept in a
register for a while, and compares those without a mark with what the source says they have.

usage: run_slots.py ASYNCDBG PROFILE

PROFILE  debug or release

Asked at the lines twice, the second time with the records of the first one: the answers are the same. Asked of the frame
that calls `look`, too. At most one right value has a mark where SURE have none. The program is built under CARGO_TARGET_DIR; skipped without cargo.
"""
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generated_program import TESTDATA, build, read_options
from harness.session import Session

SURE = 2


def read_truth(source):
    """What each variable has at each stop, by the line; None: it is not set."""
    ret = {}
    for number, line in enumerate(source.splitlines(), 1):
        found = re.search(r"look\(\d+\); // (.+)", line)
        if found:
            pairs = re.findall(r"(\w+): ([^:]+?)(?= \w+:|$)", found.group(1))
            ret[number] = {name: [None if each == "-" else each.replace(",", ", ") for each in values.split()]
                           for name, values in pairs}
    return ret


def walk(asyncdbg, path, places, number=0):
    """The variables of the frame of that number at each stop: pairs of a line and a list of names, values and doubts."""
    ret = []
    session = Session(asyncdbg)
    try:
        for place in places:
            session.ask(f"break {place}")
        stop = session.ask(f"run -- {path}")["stopped"]
        while stop["reason"] == "breakpoint":
            session.ask(f"frame {number}")
            frame = session.ask("locals")["native_frame"]
            ret.append((frame["line"], [(each["name"], each["value"], each["uncertain"]) for each in frame["locals"]]))
            stop = session.ask("continue")["stopped"]
        session.end()
    finally:
        session.close()
    return ret


def check(truth, stops):
    """How many values are wrong, or stops missing."""
    counts, times, wrong = {True: 0, False: 0}, dict.fromkeys(truth, 0), 0
    for line, shown in stops:
        times[line] += 1
        for name, value, is_uncertain in shown:
            values = truth[line].get(name)
            if not values or value is None or times[line] > len(values):
                continue
            if value == values[times[line] - 1]:
                counts[is_uncertain] += 1
            elif not is_uncertain:
                print(f"stop {times[line]} in line {line}: {name} = {value} instead of {values[times[line] - 1]}")
                wrong += 1
    for line, variables in truth.items():
        if any(len(values) != times[line] for values in variables.values()):
            print(f"line {line}: {times[line]} stops")
            wrong += 1
    print(f"{len(stops)} stops, {counts[False]} right values without a mark, {counts[True]} with one")
    return wrong + (counts[True] * SURE > counts[False])


def main():
    options = read_options()
    source = (TESTDATA / "programs/values/src/bin/slots.rs").read_text()
    path = build(source, options.profile, "slots", 2021)
    truth = read_truth(source)
    lines = [f"main.rs:{line}" for line in truth]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        stops = walk(options.asyncdbg, path, lines)
        if walk(options.asyncdbg, path, lines) != stops:
            sys.exit("the second answers are others")
        callers = walk(options.asyncdbg, path, ["generated::look"], 1)
    sys.exit(1 if check(truth, stops) + check(truth, callers) else 0)


if __name__ == "__main__":
    main()
