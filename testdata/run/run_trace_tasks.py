#!/usr/bin/env python3
"""
Traces executors/traced_tasks, tasks of async-executor, or compio/traced_compio, tasks of compio, and compares
the events with its own counts.

usage: run_trace_tasks.py ASYNCDBG PROGRAM [--allow-slow] [SECTION...]

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import subprocess
import sys
from collections import Counter

from harness import checks, trace as traced
from harness.checks import check, check_true
from harness.trace import Program, Trace

SECTIONS = {
    "traced_tasks": ["counts", "local", "pingpong", "reuse", "dropped", "alikes", "stall", "both"],
    "traced_compio": ["counts", "threads", "pingpong", "reuse", "dropped", "alikes", "stall"],
}
START, END, SPAWN, TERMINATE, WAKE = ("task-poll-start", "task-poll-end", "task-spawn", "task-terminate", "task-wake")
OURS = {SPAWN, START, END, TERMINATE, WAKE}


def is_ours(item):
    """Whether an event is of a task whose id is its address."""
    return (item["task"] or "").startswith(("async_executor:", "compio:"))


def is_of_compio(items):
    """Whether tasks are of compio's own executor; before compio 0.19 they are of async-task."""
    return any(i["task"].startswith("compio:") for i in items)


def name_of(item):
    """"traced_tasks::tasks::yielder"; None: the type is not known."""
    return item["type"] and item["type"].split("::{")[0].split("<")[-1]


def count(items, event):
    return sum(1 for i in items if i["event"] == event)


def check_counts(section, items, truth):
    of_compio = is_of_compio(items)
    cancels = 0 if of_compio else truth["cancels"]
    polls = truth["polls"] + cancels + truth.get("alikes", 0)
    check("spawns", count(items, SPAWN), truth["spawned"])
    check("ends", count(items, TERMINATE), truth["terminated"] + (2 if "alikes" in truth else 0))
    check("polls", count(items, START), polls)
    check("ends of polls", count(items, END), polls)
    # Tasks of an executor that is dropped end without a poll, and of compio those that are cancelled.
    unpolled = truth.get("unpolled", 0) if of_compio else count(items, TERMINATE) if section == "dropped" else 0
    check("polls that ended their task", sum(1 for i in items if i["event"] == END and i["ready"]),
          count(items, TERMINATE) - unpolled)
    names = Counter(name_of(i) for i in items if i["event"] == START)
    for key, number in truth.items():
        if key.startswith("polls."):
            name = key[len("polls."):]
            check(key, names[name] - (cancels if name.endswith("::aborted") else 0), number)


def check_lives(items):
    """
    An address is of one task at a time: each begins with a spawn, and after its end only another
    spawn begins one there. The end of a poll is seen a moment after it.
    """
    living, polled = set(), set()
    for i in items:
        task, event = i["task"], i["event"]
        if event == SPAWN:
            check(f"{task} spawned while it lives", task in living, False)
            living.add(task)
        elif event != END:
            check(f"{event} of {task}, which does not live", task in living, True)
        if event == START:
            check(f"{task} polled within a poll", (task, i["tid"]) in polled, False)
            polled.add((task, i["tid"]))
        elif event == END:
            polled.discard((task, i["tid"]))
        elif event == TERMINATE:
            living.discard(task)
    check("tasks that live on", living, set())


def check_wakes(items, truth):
    types = {i["task"]: name_of(i) for i in items if i["event"] == START}
    wakes = Counter(name_of(i) for i in items if i["event"] == WAKE and i["by"])
    for key, number in truth.items():
        if key.startswith("wakes."):
            check(key, wakes[key[len("wakes."):]], number)
    for i in items:
        if i["event"] == WAKE and i["by"]:
            check("a task woken by itself", types[i["by"]] == name_of(i), False)


# The functions of the chain in which each task of the sections sleeps, and what it awaits there.
CHAINS = {
    "yielder": (["yielder", "yields"], "YieldNow"),
    "local_yielder": (["local_yielder", "yields"], "YieldNow"),
    "sleeper": (["sleeper", "sleeps"], "Timer"),
    "parent": (["parent", "has_children", "join"], "Task<"),
    "child": (["child", "yields"], "YieldNow"),
    "short": (["short", "yields"], "YieldNow"),
    "panicker": (["panicker", "panics"], "YieldNow"),
    "aborted": (["aborted", "never"], "Pending<"),
}
CHAINS_OF_COMPIO = CHAINS | {
    "sleeper": (["sleeper", "sleeps", "sleep", "sleep_until"], "Timer"),
    "parent": (["parent", "has_children", "join"], "JoinHandle<"),
}


def polled_meanwhile(ours):
    """Ends of polls, by id(), of whose task another thread has begun the next poll before the end."""
    begun, found = {}, set()
    for i in ours:
        if i["event"] == START:
            begun[i["task"]] = i["tid"]
        elif i["event"] == END and begun.get(i["task"]) != i["tid"]:
            found.add(id(i))
    return found


def check_places(trace, ours):
    """
    A poll that did not end its task has a place, which is the task's own await; unless another thread has
    polled the task before it could be read.
    """
    following, chains = {}, CHAINS_OF_COMPIO if is_of_compio(ours) else CHAINS
    meanwhile = polled_meanwhile(ours)
    for i in reversed(ours):
        if i["event"] == START:
            following[i["task"]] = i["tid"]
        if i["event"] != END or i["type"] is None:
            continue
        name = name_of(i).split("::")[-1]
        check_true(f"a place of a {name} without that", i["place"] is None or not i["ready"])
        if name not in chains or i["ready"]:
            continue
        check_true(f"a place of {name}", i["place"] is not None or "late" in i or id(i) in meanwhile or
                   following.get(i["task"]) != i["tid"])
        if i["place"] is None:
            continue
        place, (functions, leaf) = trace.places[i["place"]], chains[name]
        check(f"chain of {name}", [f["function"].split("::")[-1] for f in place["frames"]], functions)
        check(f"what {name} awaits: {place['awaits']}", leaf in place["awaits"], True)
        check(f"lines of {name}", all(f["line"] for f in place["frames"]), True)


def check_alikes(items, truth):
    """Where two types have one function, their tasks have no type or the right one."""
    for i in items:
        for name in ("first_alike", "second_alike"):
            if int(i["task"].split(":")[1], 16) == truth[f"at.{name}"]:
                check_true(f"type of {name}: {i['type']}", i["type"] is None or f"::{name}::" in i["type"])


def check_section(section, truth, trace):
    ours = [i for i in trace.items if is_ours(i)]
    theirs = [i for i in trace.items if i["task"] and not is_ours(i)]
    check("lost events", trace.end["lost"], 0)
    check_lives(ours)
    check_places(trace, ours)
    if section == "both":
        check_both(ours, theirs, truth)
        return
    check("events of others", len(theirs), 0)
    check_counts(section, ours, truth)
    if "wakes" in truth:
        check_wakes(ours, truth)
    if section == "alikes":
        check_alikes(ours, truth)
    if "stall_ns" in truth:
        longest = max(i["poll_ns"] for i in ours if i["event"] == END)
        check("the longest poll is the stall", truth["stall_ns"] <= longest, True)


def check_both(ours, theirs, truth):
    """Two runtimes in one trace: the polls of each by its own kind of task."""
    for items, name, tasks in ((ours, "yielder", 4), ([i for i in theirs if i["kind"] == "task"], "on_tokio", 3)):
        polls = truth[f"polls.traced_tasks::tasks::{name}"]
        check(f"spawns of {name}", count(items, SPAWN), tasks)
        check(f"ends of {name}", count(items, TERMINATE), tasks)
        check(f"polls of {name}", count(items, START), polls)
        check(f"ends of polls of {name}", count(items, END), polls)
        check(f"other tasks than {name}", {name_of(i) for i in items} - {f"traced_tasks::tasks::{name}"}, set())


def run(asyncdbg, path, section):
    program = Program(path)
    trace = Trace(asyncdbg, program.child.pid, traced.slow)
    if not trace.head:
        trace.child.wait(traced.WAIT)
        message = trace.message()
        program.end()
        traced.leave_out_refused(message)
        check(f"{section}: a trace", message, "")
        return
    before = checks.failed()
    truth = program.run(section)
    program.end()
    trace.finish()
    missing = {m["event"]: m["reason"] for m in trace.head["missing"] if not m["never"]}
    check("missing events", missing, {})
    check("status", trace.status, 0)
    check_section(section, truth, trace)
    checks.report(section, before)


def run_probes(asyncdbg, path):
    """What the executor has not is named with the reason."""
    before = checks.failed()
    done = subprocess.run([asyncdbg, path, "--json", "probes", *traced.slow], capture_output=True, text=True, timeout=traced.WAIT)
    answer = json.loads(done.stdout)
    never = {m["event"] for m in answer["missing"] if m["runtime"] in ("async_executor", "compio") and m["never"]}
    check("events that it never has", never,
          {"worker-thread-start", "worker-thread-stop", "worker-thread-park", "worker-thread-unpark"})
    check("other events are missing", [m for m in answer["missing"] if not m["never"]], [])
    check_true("its events", OURS <= set(answer["events"]))
    checks.report("probes", before)


def main(arguments):
    words = traced.take_slow(arguments)
    if len(words) < 2:
        sys.exit(__doc__)
    asyncdbg, path, *sections = words
    for section in sections or SECTIONS[os.path.basename(path)]:
        run(asyncdbg, path, section)
    if not sections:
        run_probes(asyncdbg, path)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
