#!/usr/bin/env python3
"""Traces the program `traced` without its symbols and debug info.

usage: run_trace_stripped.py ASYNCDBG TRACED

TRACED    the program traced, built with debug info and optimised

With a layout file, or a separate debug file, everything must be as with debug info. Without them
the polls must be those that the program has counted, and the rest must be missing with a reason.
Needs strip and objcopy. Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import run_trace
from harness import checks
from run_trace import END, START, TERMINATE, count
from harness.checks import check
from harness.trace import WAIT, Program, Trace, truth_of

POLLS = [START, END]
SECTIONS = ["counts", "current", "several", "pingpong", "stall"]


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=WAIT)


def make(*words):
    done = call(*words)
    if done.returncode:
        sys.exit(f"{words[0]} failed: {done.stderr}")


def with_layout(asyncdbg, layout, path):
    """asyncdbg with --layout, as one command."""
    with open(path, "w", encoding="utf-8") as script:
        script.write(f'#!/bin/sh\nexec "{asyncdbg}" --layout "{layout}" "$@"\n')
    os.chmod(path, 0o755)
    return path


def points(asyncdbg, *words):
    done = call(asyncdbg, *words, "probes")
    check(f"probes of {words}: {done.stderr}", done.returncode, 0)
    return done.stdout


def run_layout(asyncdbg, program, stripped, work):
    layout, shell = f"{work}/layout", f"{work}/with-layout"
    make(asyncdbg, "layout", program, "-o", layout)
    check("layout: points", points(asyncdbg, "--layout", layout, stripped), points(asyncdbg, program))
    with_layout(asyncdbg, layout, shell)
    for section in SECTIONS:
        run_trace.run(shell, stripped, section, [], [])
    check_launched("layout", shell, stripped)
    print("layout: done")


def check_launched(what, asyncdbg, program):
    """A program that is started: the counts of its whole life."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = call(asyncdbg, "--jsonl", "trace", "-o", file.name, "--", program, "now", "counts")
        head, items, end = rows_of(file.name)
        truth = truth_of(done.stdout.splitlines())
        check(f"{what}: missing", head["missing"], [])
        check(f"{what}: ends seen late", end["unmatched"], 0)
        run_trace.check_tasks(items, truth, head["events"])


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        head, *items, end = [json.loads(line) for line in file]
    return head, [i for i in items if "event" in i], end


def run_other_build(asyncdbg, stripped, work):
    """A layout file of another build, which --force accepts, must not tell where breakpoints go."""
    layout, other = f"{work}/layout", f"{work}/other"
    shutil.copy(stripped, other)
    make("objcopy", "--remove-section", ".note.gnu.build-id", other)
    with open(other, "r+b") as file:
        change_code(file, other)
    for words in (["--layout", layout], ["--force", "--layout", layout]):
        done = call(asyncdbg, *words, "--jsonl", "trace", "--", other, "now", "counts")
        check(f"{words[0]}: status of another build: {done.stderr}", done.returncode, 64 if len(words) == 2 else 2)
        check(f"{words[0]}: another build: {done.stderr}", "belongs to another" in done.stderr, True)
    print("another build: done")


def change_code(file, path):
    """Changes a byte of .text that is never run: between functions."""
    table = call("readelf", "-SW", path).stdout
    section = next(line.split("] ")[1].split() for line in table.splitlines() if "] .text " in line)
    start, size = int(section[3], 16), int(section[4], 16)
    file.seek(start)
    padding = file.read(size).find(b"\xcc" * 4)
    if padding < 0:
        sys.exit("the code has no padding")
    file.seek(start + padding + 1)
    file.write(b"\x90")


def run_debug_file(asyncdbg, program, stripped, work):
    debug, linked = f"{work}/traced.debug", f"{work}/linked"
    make("objcopy", "--only-keep-debug", program, debug)
    make("objcopy", f"--add-gnu-debuglink={debug}", stripped, linked)
    check("debug file: points", points(asyncdbg, linked), points(asyncdbg, program))
    for section in ("counts", "pingpong"):
        run_trace.run(asyncdbg, linked, section, [], [])
    print("debug file: done")


def check_nameless(what, items, truth):
    """
    Each call of a poll function, and no other. A job is one of the blocking pool, those that run
    workers too.
    """
    polls = truth["polls"] + truth["cancels"]
    for event in POLLS:
        check(f"{what}: {event}", sum(1 for i in items if i["event"] == event and i["kind"] is None), polls)
        check(f"{what}: {event} of jobs", count(items, event, "blocking"), truth["blocking"] + truth["workers"])
    check(f"{what}: other events", {i["event"] for i in items} - {*POLLS, "task-wake"}, set())
    check(f"{what}: tasks", len({i["task"] for i in items if i["kind"] is None}), truth["spawned"])
    check(f"{what}: polls without a task", any(not i["task"] for i in items), False)
    for i in items:
        check(f"{what}: a type", i["type"], None)
        if i["event"] == END:
            check(f"{what}: what is unknown at an end", (i["ready"], i["place"]), (None, None))


def check_nameless_head(head):
    # Wake-ups are there where spawns do not pass their points, as with fat LTO.
    missing = {m["event"] for m in head["missing"]}
    check("nameless: events", [e for e in head["events"] if e != "task-wake"], POLLS)
    check("nameless: missing", missing | {"task-wake"},
          {"task-spawn", TERMINATE, "task-wake", "worker-thread-start", "worker-thread-stop",
           "worker-thread-park", "worker-thread-unpark"})
    check("nameless: wakes", "task-wake" in missing, "task-wake" not in head["events"])
    for missing in head["missing"]:
        check(f"nameless: reason of {missing}", "stripped" in missing["reason"], True)
        check(f"nameless: remedy of {missing}", "--layout FILE" in missing["reason"], True)


def run_nameless(asyncdbg, stripped):
    for section in ("counts", "current", "several"):
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            done = call(asyncdbg, "--jsonl", "trace", "-o", file.name, "--", stripped, "now", section)
            head, items, end = rows_of(file.name)
            check_nameless_head(head)
            check("nameless: status", done.returncode, 1)
            check("nameless: lost and late", (end["lost"], end["unmatched"]), (0, 0))
            check_nameless(f"nameless {section}", items, truth_of(done.stdout.splitlines()))
    print("nameless: done")


def run_nameless_attached(asyncdbg, stripped):
    """A process that runs: what is asked for is there, which is status 0."""
    traced = Program(stripped)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", ",".join(POLLS)])
    truth = traced.run("pingpong 100")
    traced.end()
    trace.finish()
    check("nameless: status of polls alone", trace.status, 0)
    check("nameless: polls", count(trace.items, START), truth["polls"] + truth["workers"])
    print("nameless, attached: done")


def run_nameless_wakes(asyncdbg, stripped, options):
    """Wake-ups are distinguished from spawns, if need be at points that need a single step."""
    traced = Program(stripped)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", "task-wake", *options])
    truth = traced.run("pingpong 100")
    traced.end()
    trace.finish()
    shown = "task-wake" in trace.head["events"]
    check("nameless: status of wakes", trace.status, 0 if shown else 1)
    check("nameless: wakes by --allow-slow", shown or not options, True)
    if shown:
        check("nameless: wakes by tasks", sum(1 for i in trace.items if i["by"] is not None), truth["wakes"])
    print(f"nameless, wakes {' '.join(options)}: done")


def run_nameless_others(asyncdbg, stripped):
    """Commands that need to know when tasks begin and end say that they cannot."""
    traced = Program(stripped)
    for words in (["top", "--count", "1"], ["metrics"], ["profile", "--duration", "100ms"]):
        done = call(asyncdbg, "-p", traced.child.pid, *words)
        check(f"{words[0]} without a layout file: {done.stderr}", done.returncode, 2)
        check(f"{words[0]} says why: {done.stderr}", "--layout FILE" in done.stderr, True)
    traced.end()
    print("nameless, other commands: done")


def run_bpftrace_script(asyncdbg, stripped):
    """bpftrace cannot find addresses in a file without symbols."""
    done = call(asyncdbg, stripped, "probes", "--format", "bpftrace")
    check("bpftrace: status", done.returncode, 2)
    check("bpftrace: no script", done.stdout, "")
    check(f"bpftrace: {done.stderr}", "symbols" in done.stderr, True)
    print("bpftrace: done")


def run_without_tokio(asyncdbg, work):
    """A stripped program of another kind has no events, and says so."""
    other = f"{work}/true"
    make("strip", "-s", "-o", other, os.path.realpath(shutil.which("true")))
    done = call(asyncdbg, "trace", "--", other)
    check("another program: status", done.returncode, 2)
    check(f"another program: {done.stderr}", "no async runtime" in done.stderr, True)
    print("another program: done")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    asyncdbg, program = map(os.path.realpath, arguments)
    with tempfile.TemporaryDirectory() as work:
        stripped = f"{work}/stripped"
        make("strip", "-s", "-o", stripped, program)
        run_layout(asyncdbg, program, stripped, work)
        run_other_build(asyncdbg, stripped, work)
        run_debug_file(asyncdbg, program, stripped, work)
        run_nameless(asyncdbg, stripped)
        run_nameless_attached(asyncdbg, stripped)
        run_nameless_wakes(asyncdbg, stripped, [])
        run_nameless_wakes(asyncdbg, stripped, ["--allow-slow"])
        run_nameless_others(asyncdbg, stripped)
        run_bpftrace_script(asyncdbg, stripped)
        run_without_tokio(asyncdbg, work)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
