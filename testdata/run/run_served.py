#!/usr/bin/env python3
"""Processes that do not serve their own page faults, or a file in user space that they have mapped:
no command waits for them, and they run on.

usage: run_served.py ASYNCDBG SERVED SERVED_FUSE

Exit status 77 where the kernel lets them not use userfaultfd.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

WAIT = 120  # seconds, after which a command hangs


def check(what, condition):
    if not condition:
        sys.exit(f"run_served.py: {what}")


def run(words):
    """With a standard input that stays open."""
    reading, writing = os.pipe()
    try:
        return subprocess.run(words, stdin=reading, capture_output=True, text=True, timeout=WAIT, check=False)
    finally:
        os.close(reading)
        os.close(writing)


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def start(words):
    """None where it is skipped."""
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = program.stdout.readline()
    if line == "ready\n":
        return program
    print(line, end="")
    return None


def test_fuse(asyncdbg, served_fuse, directory):
    """The first page is served while the process runs, the second one never."""
    program = start([served_fuse, directory])
    if not program:
        return
    pid = str(program.pid)
    first, second = (program.stdout.readline().strip() for _ in range(2))
    for options in ([], ["--no-stop"], ["--stop-all"]):
        done = run([asyncdbg, "-p", pid, *options, "x", second])
        check(f"FUSE, x {options}: {done.stderr}", done.returncode == 2 and "not readable" in done.stderr)
        done = run([asyncdbg, "-p", pid, *options, "bt"])
        check(f"FUSE, bt {options}: {done.stderr}", done.returncode in (0, 1, 2))
        check(f"FUSE, {options}: it is in state {state_of(pid)}", state_of(pid) in "SR")
        done = run([asyncdbg, "-p", pid, "x", first])
        check(f"FUSE, x of the first page: {done.stderr}", done.returncode == 0 and "5a5a5a5a" in done.stdout)
    # One session continues after a read that nobody answers, also with a debuggee.
    commands = f"x/4xg {int(second, 16) - 16:#x}; x {first}; threads"
    done = run([asyncdbg, "-p", pid, "-e", commands])
    check(f"FUSE, a session: {done.stdout} {done.stderr}", "5a5a5a5a" in done.stdout and "Thread #2" in done.stdout)
    done = run([asyncdbg, "-e", f"attach {pid}; {commands}; detach"])
    check(f"FUSE, attach: {done.stdout} {done.stderr}", "5a5a5a5a" in done.stdout and "Thread #2" in done.stdout)
    check(f"FUSE, attach: it is in state {state_of(pid)}", state_of(pid) in "SR")
    program.stdin.close()
    check("the process that serves a file", program.wait(timeout=WAIT) == 0)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    asyncdbg, served, served_fuse = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        test_fuse(asyncdbg, served_fuse, directory)
    program = start([served])
    if not program:
        sys.exit(77)
    pid, address = str(program.pid), program.stdout.readline().strip()
    check("ps", run([asyncdbg, "ps"]).returncode in (0, 1))
    for options in ([], ["--no-stop"], ["--stop-all"]):
        done = run([asyncdbg, "-p", pid, *options, "bt"])
        check(f"bt {options}: {done.stderr}", done.returncode in (0, 1, 2))
        done = run([asyncdbg, "-p", pid, *options, "x", address])
        check(f"x {options}: {done.stderr}", done.returncode == 2 and "not readable" in done.stderr)
        check(f"bt {options}: it is in state {state_of(pid)}", state_of(pid) in "SR")
    done = run([asyncdbg, "guard", "--timeout", "1s", "--", served])
    check(f"guard: {done.returncode} {done.stderr}", done.returncode == 124)
    program.stdin.close()
    check("the process", program.wait(timeout=WAIT) == 0)
    print("served: done")


if __name__ == "__main__":
    main()
