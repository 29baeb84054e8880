#!/usr/bin/env python3
"""Steps through the scenarios of a program like `stepping` and compares the lines where asyncdbg stops with
those that the program says it has executed.

usage: run_stepping.py ASYNCDBG PROGRAM [--runs N] [--scenario NAME... | --smoke] [--crowd] [--load] [--breaks]
                       [--production]

PROGRAM     testdata/programs/stepping, or smol_steps or compio_steps, built in any profile
--runs      how often each case is run, default 1
--scenario  only these cases; without a number: see stepping_cases.py
--smoke     only a case of each kind
--crowd     four more tasks that are polled as fast as they can be
--load      two processes beside it that compute
--production  with the processor's breakpoints alone
--breaks    in place of steps, a breakpoint on each line of the function

Prints for each case its runs, misses and hangs. Exit status 1 if there is one.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

from stepping_cases import CASES, ENDS, LEFT, OTHERS, RELEASE, SMOKE, UNSEEN
from harness.session import Ended, Hung, Session

STEPS = 100  # no case has so many lines


def is_own(case, stop):
    """Whether a stop is in the coroutine of the case."""
    return (stop["file"] or "").endswith(f"{case.module}.rs") and \
        case.begin <= (stop["line"] or 0) <= case.last


def run_on(session):
    """Continues to the end of the program."""
    for _ in range(STEPS):
        stop = session.ask("continue")["stopped"]
        if stop["reason"] in ("exited", "killed", "gone"):
            return stop
    return None


def compare(case, stops, truth, profile):
    """What differs between lines and the truth; None: nothing."""
    allowed = case.may_stop()
    missing = RELEASE.get(case.name, {}) if profile == "release" else {}
    may_miss = {n for n in range(case.begin, case.last + 1)
                if any(text in case.source[n - 1] for text in missing)}
    at = 0
    for line in stops:
        while at < len(truth) and truth[at] != line and line not in allowed and truth[at] in may_miss:
            at += 1
        if at < len(truth) and truth[at] == line:
            at += 1
        elif line not in allowed:
            return f"lines {stops} instead of {truth}"
    if any(line not in may_miss for line in truth[at:]):
        return f"lines {stops} instead of {truth}"
    return None


def step(session, case, options, profile):
    """One run of a case; what went wrong, or None."""
    session.ask(f"tbreak {case.place}")
    stop = session.ask(f"run {'--production' if options.production else ''} -- {options.program} {case.scenario} "
                       f"{'--crowd' if options.crowd else ''}")["stopped"]
    if stop["reason"] != "breakpoint":
        return f"no stop at {case.place}: {stop['reason']}"
    lines, task = [], stop["task"]
    while len(lines) < STEPS and is_own(case, stop) and stop["reason"] in ("breakpoint", "step"):
        lines.append(stop["line"])
        stop = session.ask("next")["stopped"]
        if stop["task"] != task and stop["reason"] == "step":
            return f"task {stop['task']} instead of {task} at line {stop['line']}"
    left = profile == "release" and stop["reason"] == "left" and \
        (case.name in LEFT or case.program != "stepping")
    # The process ends in that moment, so that the state of the task cannot be read.
    gone = case.end == "cancelled" and stop["reason"] == "dropped" and \
        "has exited" in (stop["step"]["note"] or "")
    # The code that drops it may be inlined into a function of its executor.
    unseen = profile == "release" and stop["reason"] == "exited" and \
        (case.end == "cancelled" or case.name in UNSEEN)
    if not left and not unseen and not gone and not re.search(ENDS[case.end], json.dumps(stop)):
        return f"end {stop} instead of {case.end} after lines {lines}"
    if not unseen and run_on(session) is None:
        return "it does not end"
    session.end()
    if session.truth is None:
        return "the program says nothing"
    truth = session.truth[str(case.instance)]
    if left: # which instance it is, optimised code does not say: only the beginning is shown
        shown = [n for n in lines if n in truth or n not in case.may_stop()]
        return None if shown == truth[:len(shown)] else f"lines {lines} instead of {truth}"
    return compare(case, lines, truth, profile)


def plant_all(session, case):
    """A breakpoint on each line of the function."""
    for line in range(case.begin, case.last + 1):
        session.ask(f"break {case.module}.rs:{line}")


def drop_moved(session):
    """Breakpoints of lines without code are those of the next line; the lines that have some."""
    planted = set()
    for found in session.ask("info breakpoints")["breakpoints"]:
        if found["places"] and found["place"].endswith(f":{found['places'][0]['line']}"):
            planted.add(found["places"][0]["line"])
        else:
            session.ask(f"delete {found['number']}")
    return planted


def count_breaks(session, case, program, crowd):
    """A breakpoint on each line: the stops in the function are its lines, in their order."""
    plant_all(session, case)
    stop = session.ask(f"run -- {program} {case.scenario} {'--crowd' if crowd else ''}")["stopped"]
    planted = drop_moved(session)
    stops = []
    while stop["reason"] not in ("exited", "killed", "gone") and len(stops) < STEPS * 10:
        if stop["reason"] == "breakpoint" and is_own(case, stop):
            stops.append((stop["function"], stop["line"]))
        stop = session.ask("continue")["stopped"]
    session.end()
    if session.truth is None:
        return "the program says nothing"
    return compare_breaks(case, stops, session.truth, planted)


def plain(function):
    """Without generics at its end."""
    return (function or "").split("<")[0]


def compare_breaks(case, stops, truth, planted):
    first = truth[str(case.instance)][0]
    instances = [lines for lines in truth.values() if lines[0] == first]
    whole = [line for lines in instances for line in lines]
    function = next((plain(function) for function, line in stops if line == first), None)
    own = [line for where, line in stops if plain(where) == function]
    extra = sorted(set(own) - set(whole) - {case.begin} - case.may_stop())
    if extra:
        return f"hits of lines {extra} besides {sorted(set(whole))}"
    if not set(whole) <= planted:
        return f"no code at lines {sorted(set(whole) - planted)}"
    # The head of a loop has its place where the loop begins.
    heads = {line for line in whole if re.match(" *(for|while) ", case.source[line - 1])}
    own = [line for line in own if line in whole and line not in heads]
    whole = [line for line in whole if line not in heads]
    same = own == whole if len(instances) == 1 else sorted(own) == sorted(whole)
    return None if same else f"hits {own} instead of {whole}"


def run_case(options, case, profile):
    """One run: "", or what went wrong."""
    session = Session(options.asyncdbg)
    try:
        if options.breaks:
            return count_breaks(session, case, options.program, options.crowd) or ""
        return step(session, case, options, profile) or ""
    except Ended as ended:
        return f"asyncdbg has ended: {ended}"
    finally:
        session.close()


def run_all(options, cases, profile):
    failed = False
    for case in cases:
        misses, hangs = collections.Counter(), 0
        for _ in range(options.runs):
            try:
                wrong = run_case(options, case, profile)
            except Hung:
                hangs += 1
                continue
            if wrong:
                misses[wrong] += 1
        print(f"{case.name:24} {options.runs:4} runs {sum(misses.values()):4} misses {hangs:4} hangs",
              flush=True)
        for wrong, times in misses.most_common(3):
            print(f"    {times}: {wrong}", flush=True)
        failed |= bool(misses or hangs)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("asyncdbg")
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--scenario", nargs="*", default=[])
    for option in ("--smoke", "--crowd", "--load", "--breaks", "--production"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    profile = "release" if "release" in pathlib.Path(options.program).parts else "debug"
    own = OTHERS.get(pathlib.PurePath(options.program).name, CASES)
    wanted = SMOKE if options.smoke else options.scenario
    cases = [case for case in own if case.name in wanted or not wanted]
    if set(wanted) - {case.name for case in cases}:
        parser.error(f"no case {' '.join(sorted(set(wanted) - {case.name for case in cases}))}")
    if options.breaks:
        # The lines of the others in the crowd are not recorded.
        cases = [case for case in cases if case.scenario != "crowded"]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * options.load)]
    try:
        sys.exit(run_all(options, cases, profile))
    finally:
        for process in busy:
            process.kill()
            process.wait()


main()
