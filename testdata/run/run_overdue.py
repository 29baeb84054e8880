#!/usr/bin/env python3
"""What check says of timers that are due: it finds those that nobody fires, live and for certain, names why, and finds
none where they fire, while the process is suspended, or where the task no longer polls them. From a core, where the
time is a lower bound, nothing is certain.

usage: run_overdue.py ASYNCDBG PROGRAM

PROGRAM  the program overdue; see testdata/programs/timers
"""
import os
import signal
import subprocess
import sys
import tempfile

from harness.checks import expect, expect_in
from harness.findings import expect_finding, findings, ready, run_check

CHECK = "timer-overdue"
# The mode, what the finding says, and whether it is certain; None: there is none.
MODES = [
    ("locked", ["the timer of task ", "(overdue::wait) was due ", " s ago and has not fired: all 2 workers of runtime 0 "
                "are stuck: thread #", " is blocked in std Mutex lock at 0x"], True),
    ("blocked", ["(overdue::wait) was due ", "thread #1, which drives runtime 0, is blocked in system call "], True),
    ("computing", ["(overdue::wait) was due ", "thread #1, which drives runtime 0, is in one poll of task "], True),
    ("handle", ["the timer of thread #1 was due ", "no thread drives runtime 0"], True),
    ("left", ["possibly, the timer of task ", "(overdue::wait) was due ", "no thread drives runtime "], False),
    ("healthy", None, None),
    ("held", None, None),
]


def check_core(asyncdbg, pid, mode):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["gcore", "-o", f"{folder}/core", str(pid)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"gcore: {done.stderr}")
        found = findings(run_check(asyncdbg, "-c", f"{folder}/core.{pid}"), CHECK)
        expect(f"{mode}: certain in a core", [], [each["text"] for each in found if not each["possible"]])


def check_suspended(asyncdbg, pid, mode):
    os.kill(pid, signal.SIGSTOP)
    answer = run_check(asyncdbg, "-p", str(pid))
    expect(f"{mode}: found while it is stopped", [], findings(answer, CHECK))
    expect_in(f"{mode}: skipped", "timer-overdue: the process is suspended", "; ".join(answer["skipped"]))
    os.kill(pid, signal.SIGCONT)


def check_mode(asyncdbg, program, mode, parts, certain):
    with ready(program, mode) as pid:
        expect_finding(mode, findings(run_check(asyncdbg, "-p", str(pid)), CHECK), parts, certain)
        if mode in ("locked", "handle"):
            check_core(asyncdbg, pid, mode)
            check_suspended(asyncdbg, pid, mode)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, program = sys.argv[1:]
    for mode, parts, certain in MODES:
        check_mode(asyncdbg, program, mode, parts, certain)
        print(f"{mode}: ok", flush=True)


if __name__ == "__main__":
    main()
