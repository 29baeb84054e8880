#!/usr/bin/env python3
"""How long a program with more busy threads than processors stands still for a look at its threads.

By the clock of the program itself: the longest time in which none of its threads ran, and the longest
in which one of them did not, with nobody looking, and while asyncdbg or gdb list the threads. py-spy
looks at a Python program with as many busy threads, of which only one runs at a time.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
PYTHON = """
import sys, threading, time
last = [time.monotonic_ns()]
longest = [0]
def compute():
    while True:
        now = time.monotonic_ns()
        longest[0] = max(longest[0], now - last[0])
        last[0] = now
for _ in range(int(sys.argv[1])):
    threading.Thread(target=compute, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    print(longest[0], longest[0], flush=True)
    longest[0] = 0
"""


class Program:
    def __init__(self, words):
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "ready\n"

    def gaps_ms(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return [int(number) / 1e6 for number in self.child.stdout.readline().split()]

    def end(self):
        self.child.kill()
        self.child.wait()


def measure(program, words, runs):
    """The gaps of each run: (of all threads, of one)."""
    gaps = []
    for _ in range(runs):
        program.gaps_ms()
        if words:
            words = [str(program.child.pid) if word == "PID" else word for word in words]
            subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        else:
            time.sleep(1)
        gaps.append(program.gaps_ms())
    return gaps


def row(name, gaps):
    cells = []
    for of in zip(*gaps):
        cells += [f"{statistics.median(of):.1f} ms", f"{max(of):.1f} ms"]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("asyncdbg", nargs="+", help="one build or several")
    parser.add_argument("--threads", default="24")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    print("| | no thread ran: median | longest | one thread did not: median | longest |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        gaps = f"{folder}/gaps"
        subprocess.run(["cc", "-O2", "-pthread", "-o", gaps, BENCH / "gaps.c"], check=True)
        program = Program([gaps, options.threads])
        row("nobody looks", measure(program, None, options.runs))
        for asyncdbg in options.asyncdbg:
            words = [asyncdbg, "-p", "PID", "threads"]
            row(f"`{asyncdbg} threads`", measure(program, words, options.runs))
        if shutil.which("gdb"):
            words = ["gdb", "-p", "PID", "-batch", "-ex", "thread apply all bt"]
            row("gdb, `thread apply all bt`", measure(program, words, options.runs))
        program.end()
        if shutil.which("py-spy"):
            program = Program([sys.executable, "-c", PYTHON, options.threads])
            row("Python, nobody looks", measure(program, None, options.runs))
            words = ["py-spy", "dump", "--pid", "PID"]
            row("Python, `py-spy dump`", measure(program, words, options.runs))
            program.end()


if __name__ == "__main__":
    main()
