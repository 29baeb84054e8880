#!/usr/bin/env python3
"""A process that does not serve its own page faults: no command waits for it, and it runs on.

usage: run_served.py ASYNCDBG SERVED

Exit status 77 where the kernel lets it not use userfaultfd.
"""

import os
import subprocess
import sys
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


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, served = sys.argv[1:]
    program = subprocess.Popen([served], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = program.stdout.readline()
    if line != "ready\n":
        print(line, end="")
        sys.exit(77)
    pid, address = str(program.pid), program.stdout.readline().strip()
    check("ps", run([asyncdbg, "ps"]).returncode in (0, 1))
    for options in ([], ["--no-stop"], ["--stop-all"]):
        done = run([asyncdbg, "-p", pid, *options, "bt"])
        check(f"bt {options}: {done.stderr}", done.returncode in (0, 1, 2))
        done = run([asyncdbg, "-p", pid, *options, "x", address])
        check(f"x {options}: {done.stderr}", done.returncode == 2 and "not readable" in done.stderr)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        check(f"bt {options}: it is in state {state}", state in "SR")
    done = run([asyncdbg, "guard", "--timeout", "1s", "--", served])
    check(f"guard: {done.returncode} {done.stderr}", done.returncode == 124)
    program.stdin.close()
    check("the process", program.wait(timeout=WAIT) == 0)
    print("served: done")


if __name__ == "__main__":
    main()
