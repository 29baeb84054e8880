#!/usr/bin/env python3
"""How long it takes to launch the large program up to its first breakpoint: from the start of the
debugger to the line that says so, and the processor time of the whole command, in which the program
is. By a line and by the name of an async fn, in turns: asyncdbg with an empty cache of its own and
with that of a run before, each also with the program's file put out of the page cache, gdb and
lldb. Another build of asyncdbg may be measured beside it.
"""

import os
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
    options.add_argument("--before", type=Path, help="an asyncdbg to compare with")
    options.add_argument("--alone", action="store_true", help="without gdb and lldb")
    return options


def asyncdbg(tool, options, place, script):
    script.write_text(f"break {place}\nrun -- {options.program} {KINDS} {KINDS}\n")
    return [tool, "--batch", "-x", script], "breakpoint 1: async"


def gdb(tool, options, place, script):
    script.write_text(f"set debuginfod enabled off\nbreak {place}\nrun\n")
    command = [tool, "-nx", "-q", "-batch", "-x", script, "--args", options.program, KINDS, KINDS]
    return command, "hit Breakpoint 1"


def lldb(tool, options, place, script):
    file, colon, line = place.partition(".rs:")
    where = f"--file {file}.rs --line {line}" if colon else f"--name {place}"
    script.write_text(f"breakpoint set {where}\nrun\n")
    command = [tool, "--no-lldbinit", "--batch", "--source", script, "--"]
    return [*command, options.program, KINDS, KINDS], "stop reason = breakpoint"


def tools(options):
    """Rows of the table: a name, how it is called, and what is cold before it."""
    builds = {"asyncdbg": options.asyncdbg}
    if options.before:
        builds["before"] = options.before
    for cold in ("", ", file not in memory"):
        for first in ("empty cache", "later"):
            for name, path in builds.items():
                yield f"{name}, {first}{cold}", asyncdbg, path, bool(cold), first == "empty cache"
    others = {} if options.alone else {gdb: ("gdb",), lldb: ("lldb", "lldb-19")}
    for how, names in others.items():
        path = common.find_tool(*names)
        if path:
            yield how.__name__, how, path, False, True


def drop_pages(path):
    """Puts a file that nobody has mapped out of the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def until(command, said, cache):
    """Seconds until the debugger has said it, and seconds of the processor until its end."""
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
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if not found:
        raise SystemExit(f"{command[0]} has not come to the breakpoint")
    return seconds, usage.ru_utime + usage.ru_stime


def measure(options, place, times):
    """One round: each tool once. A launch with a cache has that of one with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        for which, how, path, is_cold, is_first in tools(options):
            script = Path(folder) / "script"
            cache = Path(folder) / str(path).replace("/", "_")
            if is_first and is_cold:
                cache = Path(tempfile.mkdtemp(dir=folder))
            cache.mkdir(exist_ok=True)
            if is_cold:
                drop_pages(options.program)
            times.setdefault(which, []).append(until(*how(path, options, place, script), cache))


def text(measured):
    seconds, processor = zip(*measured)
    return [common.duration(statistics.median(values)) for values in (seconds, processor)]


def main():
    options = parser().parse_args()
    lines = options.source.read_text().splitlines()
    body = next(n for n, line in enumerate(lines) if "async fn task3000" in line)
    line = next(n for n in range(body, len(lines)) if lines[n].strip() == "here();") + 1
    times = {by: {} for by in PLACES}
    size = options.program.stat().st_size / 1e6
    print(f"{options.runs} rounds, medians, a program of {size:.0f} MB. {common.machine()}.\n")
    for _ in range(options.runs):
        for by, place in PLACES.items():
            measure(options, place.format(line=line), times[by])
    common.table(
        ["to the first breakpoint", *(f"by {by}{of}" for by in PLACES for of in ("", ", processor"))],
        [[which, *(cell for by in PLACES for cell in text(times[by][which]))] for which in times["line"]],
    )
    common.write_json(options, times)


main()
