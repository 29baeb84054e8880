#!/usr/bin/env python3
"""How often a second a program can pass a breakpoint whose condition is false.

The program `traced` has a task for each worker that yields as fast as it can. The breakpoint is at the
line that yields, and its condition compares a variable of the async function with a number that it
never is. asyncdbg and gdb run the same program in turns; the program counts its polls. With --task the
breakpoint of asyncdbg is for a task that does not exist instead.
"""

import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import common

CONDITION = "seconds == 99999"
OTHER_TASK = 999999999
WORKERS = (1, 4)
LIMIT = 300


def parser():
    options = common.parser(__doc__)
    options.add_argument("--program", type=Path, required=True, help="`traced`, a debug build")
    options.add_argument("--task", action="store_true", help="a breakpoint for another task")
    options.add_argument("--seconds", default=3, type=int, help="of each run")
    return options


def line():
    source = common.ROOT / "testdata/programs/traced/src/load.rs"
    lines = source.read_text().splitlines()
    start = next(n for n, text in enumerate(lines) if "async fn hurries" in text)
    return next(n for n in range(start, len(lines)) if "yield_now().await" in lines[n]) + 1


def asyncdbg(options, script):
    rule = f"--task {OTHER_TASK}" if options.task else f"if {CONDITION}"
    script.write(f"break load.rs:{line()} {rule}\nrun -- {options.program}\n")
    return [options.asyncdbg, "-x", script.name]


def gdb(options, script):
    script.write(f"set confirm off\nbreak load.rs:{line()} if {CONDITION}\nrun\n")
    return ["gdb", "-q", "-batch", "-x", script.name, str(options.program)]


def rate(options, way, workers):
    with tempfile.NamedTemporaryFile("w", suffix=".x") as script:
        command = way(options, script)
        script.flush()
        done = subprocess.run(
            command,
            input=f"flat {options.seconds} {workers}\n",
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    polls = re.search(r"truth polls (\d+)", done.stdout)
    if not polls:
        raise SystemExit(f"{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return int(polls.group(1)) / options.seconds


def main():
    options = parser().parse_args()
    print("| threads that come there | asyncdbg, passes a second | gdb, passes a second |")
    print("| --- | --- | --- |")
    for workers in WORKERS:
        figures = {way: [] for way in (asyncdbg, gdb)}
        for _ in range(options.runs):
            for way, list_of in figures.items():
                list_of.append(rate(options, way, workers))
        middle = [f"{statistics.median(list_of):,.0f}" for list_of in figures.values()]
        print(f"| {workers} | {' | '.join(middle)} |")


if __name__ == "__main__":
    main()
