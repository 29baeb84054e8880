#!/usr/bin/env python3
"""Compares the lines at which `next` of asyncdbg stops with those of gdb or lldb, in each case of stepping_cases.py.

usage: run_step_gdb.py [--lldb] ASYNCDBG PROGRAM [CASE...]

gdb and lldb know no coroutine: they step up to the first await that is not ready at once. Each line at which one
stops by then must be one of asyncdbg's, in the same order and as often, but for lines of which the case says
why a debugger may stop there, or in a release build why a line may be missing. In a release build a poll may be
inlined, and gdb goes on in a later one: its lines count as long as they are those that the program executes.
Prints each case that differs. Exit status 1 if one does, 77 without gdb, or with --lldb without Python's module lldb.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from stepping_cases import CASES, RELEASE
from harness.session import LIMIT, Ended, Hung, Session

STEPS = 60
SCRIPT = """
set pagination off
set debuginfod enabled off
set breakpoint pending on
set disable-randomization on
tbreak {place}
run {scenario} > /dev/null 2>&1
python
import json
stops = []
try:
    name = gdb.selected_frame().name()
    while len(stops) < {steps} and gdb.selected_frame().name() == name:
        frame = gdb.selected_frame()
        stops.append([frame.find_sal().line, frame.pc()])
        gdb.execute("next", to_string=True)
except gdb.error:
    pass # the program has ended
print("STOPS " + json.dumps(stops))
end
kill
"""


def visits(stops):
    """The lines of gdb's stops, without those that are further on in a line that it has just been at."""
    ret, before = [], None
    for line, pc in stops:
        if before is None or line != before[0] or pc <= before[1]:
            ret.append(line)
        before = (line, pc)
    return ret


def lines_of_gdb(program, case, line):
    script = SCRIPT.format(place=f"{case.module}.rs:{line}", scenario=case.scenario, steps=STEPS)
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", file.name, program], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=LIMIT, check=False)
    found = [row for row in done.stdout.splitlines() if row.startswith("STOPS ")]
    return visits(json.loads(found[0][len("STOPS "):])) or None if found else None


def lines_of_lldb(program, case, line):
    script = pathlib.Path(__file__).with_name("lldb_stops.py")
    done = subprocess.run([sys.executable, script, program, case.scenario, f"{case.module}.rs", str(line), str(STEPS)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          timeout=LIMIT, check=False)
    if done.returncode == 77:
        print("skipped: there is no module lldb")
        sys.exit(77)
    return visits(json.loads(done.stdout)) or None if done.stdout.startswith("[") else None


def lines_of_asyncdbg(asyncdbg, program, case):
    """The lines at which it stops, and those that the program has executed; None: it does not say."""
    session = Session(asyncdbg)
    lines, truth = [], None
    try:
        session.ask(f"tbreak {case.place}")
        stop = session.ask(f"run -- {program} {case.scenario}")["stopped"]
        while stop["reason"] in ("breakpoint", "step") and len(lines) < STEPS and \
                case.begin <= (stop["line"] or 0) <= case.last:
            lines.append(stop["line"])
            stop = session.ask("next")["stopped"]
        for _ in range(STEPS):
            if stop["reason"] in ("exited", "killed", "gone"):
                break
            stop = session.ask("continue")["stopped"]
        session.end()
        truth = (session.truth or {}).get(str(case.instance))
    except Ended:
        pass
    finally:
        session.close()
    return lines, truth


def executed(case, theirs, truth):
    """The lines of gdb up to the first one that the program does not execute then, each visit once."""
    allowed, at, ret = case.may_stop() | {case.begin}, 0, []
    for i, line in enumerate(theirs):
        if i and theirs[i - 1] == line:
            continue
        if line not in allowed and case.begin <= line <= case.last:
            if line not in truth[at:]:
                break
            at += truth[at:].index(line) + 1
        ret.append(line)
    return ret


def may_miss(case):
    """The lines of a release build that may be missing."""
    texts = RELEASE.get(case.name, {})
    return {n for n in range(case.begin, case.last + 1) if any(text in case.source[n - 1] for text in texts)}


def compare(case, ours, theirs):
    """The first line of gdb's that is missing; None: there is none."""
    allowed, at = case.may_stop() | {case.begin}, 0
    for line in theirs:
        if line in allowed or not case.begin <= line <= case.last:
            continue
        if line not in ours[at:]:
            return line
        at += ours[at:].index(line) + 1
    return None


def main():
    words = [word for word in sys.argv[1:] if word != "--lldb"]
    if len(words) < 2:
        sys.exit(__doc__)
    asyncdbg, program, *names = words
    rival, lines_of = ("lldb", lines_of_lldb) if "--lldb" in sys.argv else ("gdb", lines_of_gdb)
    if rival == "gdb" and not shutil.which("gdb"):
        print("skipped: there is no gdb")
        sys.exit(77)
    cases = [case for case in CASES if case.name in names or not names]
    optimised = "release" in pathlib.Path(program).parts
    failed = 0
    for case in cases:
        ours, theirs = [], None
        try:
            ours, truth = lines_of_asyncdbg(asyncdbg, program, case)
            theirs = lines_of(program, case, ours[0]) if ours else None
        except (Hung, subprocess.TimeoutExpired) as wrong:
            print(f"{case.name}: {wrong}", flush=True)
        if theirs and optimised:
            theirs = [line for line in executed(case, theirs, truth or []) if line not in may_miss(case)]
        if rival == "lldb" and theirs is None and ours:
            print(f"{case.name}: left out: lldb does not stop or does not end there", flush=True)
            continue
        missing = compare(case, ours, theirs) if theirs is not None else "all"
        if missing:
            failed += 1
            print(f"{case.name}: line {missing} is missing: {rival} {theirs}, asyncdbg {ours}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} cases have all of {rival}'s lines")
    sys.exit(failed > 0)


main()
