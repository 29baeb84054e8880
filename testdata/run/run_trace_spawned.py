#!/usr/bin/env python3
"""Where tasks were spawned, as a trace tells it of a program, built with tokio_unstable or not.

usage: run_trace_spawned.py [--allow-slow] ASYNCDBG PROGRAM [TEST...]

PROGRAM is `traced`, `traced_tasks`, which runs on async-executor, or `traced_compio`. Each spawn must be at a line
of its source that spawns such a task, and at the one that a snapshot tells of the same task, where it does. Or it is
`smol_tasks`, which spawns a task on the global executor of smol, or `compio_tasks`.
Exit status 77 where the kernel refuses probes.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import run_trace
from harness.checks import check, check_true, end, run_tests
from harness.trace import HERE, WAIT, Program, Trace, check_schema_of, leave_out_refused, slow, take_slow

WORKSPACES = [os.path.join(HERE, "..", name) for name in ("programs", "executors", "compio")]
SECTIONS = {
    "traced": ("counts", "current", "pingpong 10", "top 1"),
    "traced_tasks": ("counts", "local", "pingpong 10", "reuse 5", "dropped"),
    "traced_compio": ("counts", "threads", "pingpong 10", "reuse 5", "dropped", "places 5"),
}

NAMES = ["lines", "fast", "snapshot", "launched", "perfetto"]
ONLY = {"traced_tasks": ["lines"], "traced_compio": ["lines"], "smol_tasks": ["begin"], "compio_tasks": ["begin"]}


def spawns_of(asyncdbg, program, section):
    """The spawns of a section that were seen themselves, and the trace."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", "task-spawn", *slow])
    if not trace.head:
        traced.kill()
        leave_out_refused(trace.message())
    traced.run(section)
    traced.end()
    trace.finish()
    check(f"{section}: lost", trace.end["lost"], 0)
    # A program of another executor may have a tokio beside it, which spawns nothing here.
    of_tokio = any(":" not in item["task"] for item in trace.items if item["event"] == "task-spawn")
    missing = [key for key in trace.head["missing_keys"] if of_tokio or key["runtime"] != "tokio"]
    check(f"{section}: missing keys", missing, [])
    check(f"{section}: places of late ones", [i for i in trace.items if i.get("late") and i["spawned_at"]], [])
    return [item for item in trace.items if not item.get("late")], trace


def test_fast(asyncdbg, program):
    """Without points that are slow a debug build shows spawns by first polls: what these lack is named. Tasks that
    record their places have them all the same."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", "task-spawn"])
    traced.run("pingpong 10")
    traced.end()
    trace.finish()
    late = [item for item in trace.items if item.get("late")]
    recorded = [item for item in late if item["spawned_at"]]
    keys = [(key["event"], key["key"], "--allow-slow" in key["reason"]) for key in trace.head["missing_keys"]]
    wanted = [("task-spawn", key, True) for key in ("by", "spawned_at") if late and not (key == "spawned_at" and recorded)]
    if recorded:
        check_lines("fast", recorded)
    check("fast: missing keys", keys, wanted)
    check("fast: late spawns", bool(late), bool(slow))


def line_of(place):
    """The text of a line of the program's source."""
    own = os.path.join(*place["file"].split("/")[-3:])
    path = next(p for p in (os.path.join(w, own) for w in WORKSPACES) if os.path.exists(p))
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()[place["line"] - 1]


def check_lines(section, spawns):
    check_true(f"{section}: spawns", spawns)
    for item in spawns:
        place = item["spawned_at"]
        check_true(f"{section}: a place of {item['type']}", place)
        if place:
            call = re.search(r"(?<!fn )\bspawn\w*\((\w*\()?", line_of(place))
            check_true(f"{section}: {item['type']} at {place}: {line_of(place)}",
                       call and (call[1] or "").rstrip("(") in item["type"])


def test_lines(asyncdbg, program):
    for section in SECTIONS[os.path.basename(program)]:
        spawns, trace = spawns_of(asyncdbg, program, section)
        check_lines(section, spawns)
        check(f"{section}: seen late", [item["type"] for item in trace.items if item.get("late")], [])
        check_schema_of(section, [trace.first + "".join(trace.lines)], ".jsonl")


def test_begin(asyncdbg, program):
    """It says when its tasks wait, and ends with its input. Those of its runtime itself may have no place."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
        words = [asyncdbg, "--jsonl", "trace", "-o", file.name, "--events", "task-spawn", *slow, "--", program]
        trace = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check_true("begin: ready", any(line == "ready\n" for line in trace.stdout))
        _, message = trace.communicate(timeout=WAIT)
        leave_out_refused(message)
        items = [item for item in map(json.loads, open(file.name, encoding="utf-8")) if item.get("event") == "task-spawn"]
    check("begin: seen late", [item["type"] for item in items if item.get("late")], [])
    own = os.path.basename(program) + "::"
    check_lines("begin", [item for item in items if item["type"].startswith(own)])


def test_snapshot(asyncdbg, program):
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", "task-spawn", *slow])
    traced.begin("rate 3600")
    item = json.loads(trace.child.stdout.readline())
    words = [asyncdbg, "-p", str(traced.child.pid), "--json", "tasks"]
    tasks = json.loads(subprocess.run(words, capture_output=True, timeout=WAIT, check=True).stdout)["tasks"]
    places = {task["id"]: task["spawned_at"] for task in tasks}
    known = places.get(item["task"])
    check_true("a place", item["spawned_at"])
    if known:
        check("the place in a snapshot", item["spawned_at"], known)
    traced.kill()
    trace.finish()


def test_launched(asyncdbg, program):
    """A program whose run-time addresses are known only when it has begun; as text."""
    with tempfile.NamedTemporaryFile("r", suffix=".txt") as file:
        words = ["trace", "--format", "text", "-o", file.name, "--events", "task-spawn", *slow, "--", program, "now", "counts"]
        subprocess.run([asyncdbg, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        lines = [line for line in open(file.name, encoding="utf-8") if " task-spawn " in line and "[seen late]" not in line]
    check_true("launched: spawns", lines)
    check("launched: without a place", [line for line in lines if not re.search(r" at \S+\.rs:\d+", line)], [])


def count_places(file):
    """The values spawned_at in a trace for Perfetto; None: it cannot be decoded here."""
    counts = run_trace.decode_perfetto(file.name, open_flows=100)
    return counts and counts["names"].get("values", {}).get("spawned_at", 0)


def test_perfetto(asyncdbg, program):
    """As many tracks of tasks with the place as there are spawns; and of tasks that exist before."""
    traced = Program(program)
    traced.begin("crowd 10 3600")
    words = [asyncdbg, "-p", str(traced.child.pid)]
    text = subprocess.run([*words, "--json", "tasks"], capture_output=True, timeout=WAIT, check=True).stdout
    known = [task for task in json.loads(text)["tasks"] if task["spawned_at"]]
    with tempfile.NamedTemporaryFile(suffix=".pftrace") as file:
        subprocess.run([*words, "trace", "--duration", "500ms", "-o", file.name, *slow],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        check_true("perfetto: tasks with a place that exist", count_places(file) in (None, len(known)))
    traced.kill()
    with tempfile.NamedTemporaryFile(suffix=".pftrace") as file:
        subprocess.run([asyncdbg, "trace", "-o", file.name, *slow, "--", program, "now", "pingpong 10"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=WAIT)
        check_true("perfetto: spawns with a place", count_places(file) in (None, 2))


def main(arguments):
    arguments = take_slow(arguments)
    if len(arguments) < 2:
        sys.exit(__doc__)
    asyncdbg, program, *names = arguments
    names = names or ONLY.get(os.path.basename(program), NAMES)
    run_tests(globals(), names, (asyncdbg, program))
    end()


if __name__ == "__main__":
    main(sys.argv[1:])
