#!/usr/bin/env python3
"""Which events of the program `traced` each build shows, for several versions of tokio and profiles.

usage: trace_matrix.py ASYNCDBG LOCK:PROFILE[=TRACED]...

Builds each with build_programs.sh, or takes the program TRACED, compares its events with its own counts (run_trace.py), and writes
a Markdown table; ends with 1 unless all counts are right. CARGO_TARGET_DIR says where to build.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SECTIONS = ["counts", "current", "several", "pingpong", "stall"]
EVENTS = ["task-spawn", "task-poll-start", "task-poll-end", "task-terminate", "worker-thread-start",
          "worker-thread-stop", "worker-thread-park", "worker-thread-unpark", "task-wake"]
HEAD = ["tokio", "profile", "missing", "with --allow-slow", "counts", "stripped, layout file",
        "stripped alone shows"]


def build(lock, profile, built):
    if built:
        return built
    done = subprocess.run([os.path.join(HERE, "..", "make", "build_programs.sh"), lock, profile, "traced"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return os.path.join(done.stdout.splitlines()[-1], "traced")


def missing(asyncdbg, program, *options):
    done = subprocess.run([asyncdbg, "--json", program, "probes", *options], capture_output=True, text=True)
    document = json.loads(done.stdout)
    return [e for e in EVENTS if e not in document["events"]]


def run_trace(asyncdbg, program, lacks, slow):
    words = [os.path.join(HERE, "run_trace.py"), *["--allow-slow"] * slow]
    for event in lacks:
        words += ["--without", event]
    done = subprocess.run([*words, asyncdbg, program, *SECTIONS], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
    return done.returncode == 0


def with_layout(asyncdbg, program, stripped, work):
    """asyncdbg with the program's layout file, as one command."""
    path, layout = f"{work}/asyncdbg", f"{work}/layout"
    subprocess.run([asyncdbg, "layout", program, "-o", layout], check=True, capture_output=True)
    subprocess.run(["strip", "-s", "-o", stripped, program], check=True)
    with open(path, "w", encoding="utf-8") as script:
        script.write(f'#!/bin/sh\nexec "{asyncdbg}" --layout "{layout}" "$@"\n')
    os.chmod(path, 0o755)
    return path


def names(events):
    return ", ".join(events) or "none"


def row_of(asyncdbg, row, work):
    name, _, built = row.partition("=")
    lock, profile = name.split(":")
    program, stripped = build(lock, profile, built), f"{work}/stripped"
    lacks, slow_lacks = (missing(asyncdbg, program, *words) for words in ([], ["--allow-slow"]))
    ok = run_trace(asyncdbg, program, slow_lacks if lacks else lacks, bool(lacks))
    layout = with_layout(asyncdbg, program, stripped, work)
    same = (missing(layout, stripped) == lacks and
            run_trace(layout, stripped, slow_lacks if lacks else lacks, bool(lacks)))
    cells = [lock.removeprefix("tokio-"), profile, names(lacks), names(slow_lacks), "ok" if ok else "WRONG",
             "as that" if same else "WRONG", names([e for e in EVENTS if e not in missing(asyncdbg, stripped)])]
    print("| " + " | ".join(cells) + " |", flush=True)
    return ok and same


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    asyncdbg = os.path.realpath(arguments[0])
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|")
    good = True
    for row in arguments[1:]:
        with tempfile.TemporaryDirectory() as work:
            os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
            good &= row_of(asyncdbg, row, work)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
