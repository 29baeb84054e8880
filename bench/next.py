#!/usr/bin/env python3
"""Times `next` without a suspension: asyncdbg's and gdb's, on the same lines, in turns.

usage: next.py ASYNCDBG PROGRAM [ROUNDS]

PROGRAM is testdata/programs/stepping. Both stop in the scenario `plain`, whose lines await nothing. The
time is that from the command to its answer; the first `next` of a session has its own row, for it may
read more debug info than those after it.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "testdata/programs/stepping/src/awaits.rs"
STEPS = 3


class Asyncdbg:
    def __init__(self, asyncdbg, program, line):
        self.process = subprocess.Popen([asyncdbg, "--jsonl", "-x", "-"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.ask(f"tbreak awaits.rs:{line}")
        self.ask(f"run -- {program} plain")

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith('{"schema"'):
                return json.loads(line)
        raise SystemExit("asyncdbg has ended")

    def next(self):
        return self.ask("next")["stopped"]["line"]


class Gdb:
    """By its machine interface."""

    def __init__(self, program, line):
        self.process = subprocess.Popen(
            ["gdb", "--nx", "-q", "-i", "mi2", "-iex", "set debuginfod enabled off", "--args", program, "plain"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.send(f"-break-insert -t awaits.rs:{line}")
        self.send("-exec-run")
        self.wait()

    def send(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def wait(self):
        for line in self.process.stdout:
            if line.startswith("*stopped"):
                return int(line.split('line="')[1].split('"')[0])
        raise SystemExit("gdb has ended")

    def next(self):
        self.send("-exec-next")
        return self.wait()


def measure(session):
    """The time of each step in ms, and the lines."""
    times, lines = [], []
    for _ in range(STEPS):
        begin = time.monotonic()
        lines.append(session.next())
        times.append((time.monotonic() - begin) * 1000)
    session.process.kill()
    session.process.wait()
    return times, lines


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    asyncdbg, program = sys.argv[1:3]
    # The second line: gdb stops at the first one twice.
    line = SOURCE.read_text().splitlines().index("pub async fn plain(me: Me) -> u32 {") + 3
    first, later = {}, {}
    for _ in range(int(sys.argv[3]) if len(sys.argv) == 4 else 10):
        times, lines = measure(Asyncdbg(asyncdbg, program, line))
        others, its_lines = measure(Gdb(program, line))
        if lines != its_lines:
            sys.exit(f"lines {lines}, gdb's are {its_lines}")
        for name, measured in (("asyncdbg", times), ("gdb", others)):
            first.setdefault(name, []).append(measured[0])
            later.setdefault(name, []).extend(measured[1:])
    print("ms, median and largest: | the first | later ones |")
    for name in first:
        print(f"{name}: | {statistics.median(first[name]):.2f}, {max(first[name]):.2f} | "
              f"{statistics.median(later[name]):.2f}, {max(later[name]):.2f} |")


main()
