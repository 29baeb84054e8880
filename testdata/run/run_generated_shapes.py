#!/usr/bin/env python3
"""Sets breakpoints on the lines of a program that has each kind of loop, branch and await together
(generate_shapes.py), and compares those that are hit with the lines that it says it has executed.

usage: run_generated_shapes.py ASYNCDBG PROFILE

PROFILE  debug or release. In release a few lines that the compiler has merged with others are not hit.

In debug a breakpoint is also hit on each line at which `next` of gdb stops, where nothing suspends. Then it steps
through each 40th function. Built under CARGO_TARGET_DIR; skipped without cargo.
"""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generate_shapes import Shapes
from generated_program import build, read_options
from run_generated_steps import check
from harness.session import Session

SHAPES = 40  # each of so many is stepped through

GDB = """
set pagination off
set debuginfod enabled off
set breakpoint pending on
{breaks}
run at-once > /dev/null 2>&1
python
import json
stops = set()
try:
    while True:
        name = gdb.selected_frame().name()
        while gdb.selected_frame().name() == name:
            stops.add(gdb.selected_frame().find_sal().line)
            gdb.execute("next", to_string=True)
        gdb.execute("continue", to_string=True)
except gdb.error:
    pass # the program has ended
print("STOPS " + json.dumps(sorted(stops)))
end
"""


def lines_of_gdb(program, path):
    """The lines at which `next` stops in all functions, where nothing suspends; none without gdb."""
    if not shutil.which("gdb"):
        return set()
    breaks = "\n".join(f"tbreak main.rs:{function.first}" for function in program.functions)
    script = path.with_name("shapes.gdb")
    script.write_text(GDB.format(breaks=breaks))
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-x", script, path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return set(json.loads(next(row for row in done.stdout.splitlines() if row.startswith("STOPS "))[6:]))


def hit_lines(asyncdbg, lines, path, *arguments):
    """The lines of which a breakpoint is hit, and those that the program says it has executed."""
    session = Session(asyncdbg, limit=1200)
    try:
        for line in lines:
            session.ask(f"break main.rs:{line} --after 1000000")
        stop = session.ask(" ".join(["run --", str(path), *arguments]))["stopped"]
        assert stop["reason"] == "exited", stop
        found = session.ask("info breakpoints")["breakpoints"]
        session.end()
    finally:
        session.close()
    hit = {int(b["place"].split(":")[-1]) for b in found if b["hits"]}
    return hit, {line for said in session.truth.values() for line in said}


def main():
    options = read_options()
    program = Shapes()
    path = build(program.text, options.profile, "shapes", 2021, "programs/stepping/src/record.rs")
    own = [line for f in program.functions for line in range(f.first, f.last + 1)]
    hit, said = hit_lines(options.asyncdbg, own, path)
    wrong = sorted(said & set(own) - hit)
    if options.profile == "debug":
        at_once, _ = hit_lines(options.asyncdbg, own, path, "at-once")
        wrong += sorted(lines_of_gdb(program, path) & set(own) - at_once)
    for line in wrong:
        print(f"line {line} is not hit: {program.lines[line - 1].strip()}")
    print(f"{len(said & set(own))} lines, {len(wrong)} not hit", flush=True)
    for function in program.functions[::SHAPES]:
        problem = check(options.asyncdbg, program, function, path, options.profile)
        if problem and problem != "left":
            wrong.append(function.first)
            print(f"f{function.number}: {problem}")
    sys.exit(len(wrong) > 0)


if __name__ == "__main__":
    main()
