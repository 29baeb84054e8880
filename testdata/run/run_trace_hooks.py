#!/usr/bin/env python3
"""
Traces the program `traced`, built with tokio_unstable, and compares the events with what tokio's own hooks
have seen and its counters have counted.

usage: run_trace_hooks.py ASYNCDBG TRACED [--allow-slow] [TEST...]

TEST: parks, interval; default both. Ends with 77 where the kernel refuses probes to us.
"""
import sys
from collections import defaultdict

from harness import checks, trace as shared
from harness.checks import check, check_true
from harness.trace import Program, Trace, leave_out_refused

START, END, SPAWN = "task-poll-start", "task-poll-end", "task-spawn"
PARK, UNPARK = "worker-thread-park", "worker-thread-unpark"
RUN = 1000  # ms of the section
LONGEST = 64000  # ms, until the trace is within it


def open_trace(asyncdbg, program, options):
    trace = Trace(asyncdbg, program.child.pid, options + shared.slow)
    if not trace.head:
        leave_out_refused(trace.message())
    return trace


def hooks_of(lines):
    return [(words[1], words[2], int(words[3])) for words in map(str.split, lines) if words[:1] == ["hook"]]


def test_parks(asyncdbg, path):
    """A worker that only looks for what its driver has does not park: the runtime's own count has it so."""
    program = Program(path)
    trace = open_trace(asyncdbg, program, [])
    truth = program.run(f"hooked {RUN}")
    program.end()
    trace.finish()
    check("parks: lost events", trace.end["lost"], 0)
    check("parks: missing events", [m["event"] for m in trace.head["missing"]], [])
    for event in (PARK, UNPARK):
        check(f"parks: {event}", sum(i["event"] == event for i in trace.items), truth["parks"])


def check_ends(trace):
    """Nothing is written before the start or after the end."""
    start, end = trace.head["start"], trace.head["start"] + trace.end["duration_ns"]
    check("interval: lost events", trace.end["lost"], 0)
    check("interval: events before the start", sum(i["t"] < start for i in trace.items), 0)
    check("interval: events after the end", sum(i["t"] > end for i in trace.items), 0)
    return start, end


def check_polls(trace, hooks, start, end):
    """
    Each hook of the interval is within a poll that the trace has: a poll's hooks run within it, so that of one
    that begins or ends beside the interval one may be seen alone.
    """
    seen, called = defaultdict(list), defaultdict(list)
    for i in trace.items:
        if i["event"] in (START, END):
            seen[i["task"]].append((i["t"], i["event"]))
    for event, task, time in hooks:
        if event != "spawn":
            called[task].append((time, START if event == "start" else END))
    missing = more = 0
    for task, events in called.items():
        mine = sorted(seen.pop(task, []))
        for event in (START, END):
            theirs = sorted(t for t, e in events if e == event)
            ours = sorted(t for t, e in mine if e == event)
            # A start is seen before its hook, an end behind it: at both ends of the interval one may lie beside it.
            inner = sum(start < t <= end for t in theirs)
            first = event == START and theirs and inner and next((t for t in theirs if t > start), 0)
            slack = {START: (1 if first else 0, 1), END: (1, 1)}[event]
            missing += max(0, inner - slack[0] - len(ours))
            more += max(0, len(ours) - inner - slack[1])
    check("interval: polls that the trace lacks", missing, 0)
    check("interval: polls that tokio had not", more, 0)
    check("interval: tasks that tokio had not", sorted(seen), [])


def check_spawns(trace, hooks, start, end):
    theirs = {task for event, task, time in hooks if event == "spawn" and start <= time <= end}
    ours = {i["task"] for i in trace.items if i["event"] == SPAWN}
    # The hook is called a moment before the task is bound to its runtime: the last, or the one before the first.
    check_true("interval: spawns that the trace lacks", len(theirs - ours) <= 2)
    check_true("interval: spawns that tokio had not", len(ours - theirs) <= 2)


def test_interval(asyncdbg, path):
    """Of a trace that begins and ends while the program runs every event is there, and no other."""
    length = 4 * RUN
    while True:
        program = Program(path)
        program.begin(f"hooked {length}")
        trace = open_trace(asyncdbg, program, ["--duration", "500ms"])
        trace.finish()
        lines = program.lines_until("done")
        program.end()
        hooks = hooks_of(lines)
        start, end = check_ends(trace)
        if hooks[-1][2] > end + 100_000_000 or length >= LONGEST:
            break
        length *= 4
    check_true("interval: the program runs on behind it", hooks[-1][2] > end)
    check_true("interval: it has events", len(trace.items) > 100)
    check_polls(trace, hooks, start, end)
    check_spawns(trace, hooks, start, end)


def main():
    arguments = shared.take_slow(sys.argv[1:])
    if len(arguments) < 2:
        sys.exit(__doc__)
    asyncdbg, path, *names = arguments
    checks.run_tests(globals(), names, (asyncdbg, path))
    checks.end()


if __name__ == "__main__":
    main()
