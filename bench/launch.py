#!/usr/bin/env python3
"""How long it takes to launch the large program up to its first breakpoint: from the start of the
debugger to the line that says so. By a line and by the name of an async fn; asyncdbg with an empty
cache and with that of a run before, gdb beside it, in turns. The page cache is warm.
"""

import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import common

KINDS = "20"
PLACES = {"line": "part3/src/lib.rs:{line}", "name": "part3::task3000"}


def parser():
    options = common.parser(__doc__, runs=3)
    options.add_argument("--program", type=Path, required=True, help="the large program, see large/")
    options.add_argument("--source", type=Path, required=True, help="part3/src/lib.rs of it")
    return options


def asyncdbg(options, place, script):
    script.write_text(f"break {place}\nrun -- {options.program} {KINDS} {KINDS}\n")
    return [options.asyncdbg, "--batch", "-x", script], "breakpoint 1: async"


def gdb(options, place, script):
    script.write_text(f"set debuginfod enabled off\nbreak {place}\nrun\n")
    command = ["gdb", "-nx", "-q", "-batch", "-x", script, "--args", options.program, KINDS, KINDS]
    return command, "hit Breakpoint 1"


def until(command, said, cache):
    """Seconds until the debugger has said it."""
    begin = time.monotonic()
    with subprocess.Popen(
        ["env", f"XDG_CACHE_HOME={cache}", *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        found = any(said in line for line in process.stdout)
        seconds = time.monotonic() - begin
        for _ in process.stdout:
            pass
    if not found:
        raise SystemExit(f"{command[0]} has not come to the breakpoint")
    return seconds


def main():
    options = parser().parse_args()
    lines = options.source.read_text().splitlines()
    body = next(n for n, text in enumerate(lines) if "async fn task3000" in text)
    line = next(n for n in range(body, len(lines)) if lines[n].strip() == "here();") + 1
    times = {}
    print(f"{options.runs} rounds, medians. {common.machine()}.\n")
    for _ in range(options.runs):
        for by, place in PLACES.items():
            with tempfile.TemporaryDirectory() as folder:
                script, at = Path(folder) / "script", place.format(line=line)
                for which, tool in (("empty cache", asyncdbg), ("later", asyncdbg), ("gdb", gdb)):
                    seconds = until(*tool(options, at, script), folder)
                    times.setdefault(which, {}).setdefault(by, []).append(seconds)
    common.table(
        ["to the first breakpoint", *(f"by {by}" for by in PLACES)],
        [[which, *(common.duration(statistics.median(t)) for t in of.values())] for which, of in times.items()],
    )
    common.write_json(options, times)


main()
