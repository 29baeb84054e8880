#!/usr/bin/env python3
"""
Compares what `metrics`, `top`, `profile` and `stalls` say of tasks without ids with the program's own counts:
of executors/traced_tasks, or of compio/traced_compio.

usage: run_time_tasks.py ASYNCDBG PROGRAM [--allow-slow]

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import sys
import tempfile

from harness import checks
from run_metrics import Metrics, check_format, start, wait_for_file
from run_profile import Profile, check_sums, in_polls, of_type
from run_top import frames_of
from run_top import start as start_top
from run_trace import documents
from harness.checks import check, check_true
from harness.trace import WAIT, Asyncdbg, Program, slow, take_slow


def cancels(path, truth):
    """Of async-task the run of a task that is cancelled is a poll of it; compio takes it from the queue."""
    return 0 if of_program(path) == "compio:" else truth["cancels"]


def of_program(path):
    return "compio:" if os.path.basename(path) == "traced_compio" else "async_executor:"


def named(truth, key):
    """The counts of a key by the names of async fns; not of those whose tasks were cancelled."""
    return {k[len(key) + 1:]: n for k, n in truth.items() if k.startswith(key + ".") and not k.endswith("::aborted")}


def run_metrics(asyncdbg, path):
    for section in ("counts", "pingpong 300"):
        program = Program(path)
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "tasks.prom")
            counting = start(asyncdbg, program, "--every", "200ms", "-o", file)
            wait_for_file(file, counting)
            truth = program.run(section)
            program.end()
            counting.child.communicate(timeout=WAIT)
            with open(file, encoding="utf-8") as f:
                metrics = Metrics(f.read())
        check_format(section, metrics)
        check(f"metrics: {section}: lost", metrics.sum("trace_lost_events_total"), 0)
        check(f"metrics: {section}: spawned", metrics.sum("spawned_tasks_total"), truth["spawned"])
        check(f"metrics: {section}: ended", metrics.sum("dropped_tasks_total"), truth["terminated"])
        check(f"metrics: {section}: alive", metrics.sum("live_tasks"), 0)
        check(f"metrics: {section}: polls", metrics.sum("polls_total"), truth["polls"] + cancels(path, truth))
        for name, number in named(truth, "polls").items():
            kind = name + "::{async_fn_env#0}"
            check(f"metrics: {section}: polls of {name}", metrics.sum("polls_total", type=kind), number)
        if "wakes" in truth:
            check_true(f"metrics: {section}: wake-ups", metrics.sum("scheduled_duration_seconds_count") >= truth["wakes"])


def run_top(asyncdbg, path):
    for section in ("counts", "pingpong 300"):
        program = Program(path)
        top = start_top(asyncdbg, program, ["--jsonl"], ["--interval", "300ms", "--group", "type"])
        frames = frames_of(top.child)
        if next(frames, None) is None:
            sys.exit(f"asyncdbg has ended: {top.message()}")
        truth = program.run(section)
        program.end()
        frames = list(frames)
        top.child.wait(WAIT)
        rows = [row for frame in frames for row in frame["rows"]]
        total = {key: sum(frame[key] for frame in frames) for key in ("spawned", "ended", "polls", "lost")}
        wanted = {"spawned": truth["spawned"], "ended": truth["terminated"], "lost": 0,
                  "polls": truth["polls"] + cancels(path, truth)}
        check(f"top: {section}", total, wanted)
        for name, number in named(truth, "polls").items():
            of = [row for row in rows if row["type"] == name + "::{async_fn_env#0}"]
            check(f"top: {section}: polls of {name}", sum(row["polls"] for row in of), number)
        for name, number in named(truth, "wakes").items():
            of = [row for row in rows if row["type"] == name + "::{async_fn_env#0}"]
            by_tasks = sum(row["wakes"] - row["wakes_by_no_task"] for row in of)
            check(f"top: {section}: wake-ups of {name} by tasks", by_tasks, number)


def run_profile(asyncdbg, path):
    """The time of a poll belongs to the await from which the task went on."""
    program = Program(path)
    profiled = Profile(asyncdbg, program, "--duration", "1h")
    truth = program.run("stall")
    document = json.loads(profiled.end())
    program.end()
    check("profile: status", profiled.status(), 0)
    check_sums("profile", document)
    profile = document["profile"]
    check("profile: polls", sum(row["polls"] for row in profile["types"]), truth["polls"])
    crate = os.path.basename(path)
    longest = max(of_type(profile, f"{crate}::tasks::staller", "stacks"), key=in_polls)
    check_true("profile: the stall", in_polls(longest) >= truth["stall_ns"])
    functions = [frame["function"] for frame in longest["frames"]]
    check("profile: its place", functions[:2], [f"{crate}::tasks::staller", f"{crate}::tasks::stalls"])


def run_stalls(asyncdbg, path):
    program = Program(path)
    stalls = Asyncdbg(asyncdbg, "-p", str(program.child.pid), "--json", "stalls", "--over", "5ms", *slow)
    check_true("stalls: watching", stalls.wait_for_message("watching process"))
    truth = program.run("stall")
    program.end()
    seen = list(documents(stalls.child.communicate(timeout=WAIT)[0]))
    seen = [d for d in seen if "staller" in (d["stall"]["type"] or "")]
    ended = [d["stall"] for d in seen if d["stall"]["ended"]]
    check_true("stalls: its task", any(s["task"].startswith(of_program(path)) for s in ended))
    check_true("stalls: its length", any(s["poll_ns"] >= truth["stall_ns"] for s in ended))
    # On a busy machine the stall may not have begun when the stack was read, or the poll has ended, as a note says.
    functions = [f["function"] or "" for d in seen for t in d["threads"] for f in t["frames"]]
    unread = any(text in stalls.message() for text in ("ended before", "its stack was not read: "))
    check_true(f"stalls: its stack, {functions}, {stalls.message()}", unread or any("staller" in f for f in functions))


def main(arguments):
    words = take_slow(arguments)
    if len(words) != 2:
        sys.exit(__doc__)
    for test in (run_metrics, run_top, run_profile, run_stalls):
        before = checks.failed()
        test(*words)
        checks.report(test.__name__, before)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
