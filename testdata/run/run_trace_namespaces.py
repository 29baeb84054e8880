#!/usr/bin/env python3
"""Traces the program `traced` across namespaces: events must have the thread ids of asyncdbg's /proc, and
times of its clock.

usage: run_trace_namespaces.py ASYNCDBG TRACED
       run_trace_namespaces.py --here ASYNCDBG TRACED WHERE

asyncdbg is in our pid namespace and in one below it; the program (WHERE) is in the same one, or `below`.
Then both are in a time namespace, whose clock is ahead.
Ends with 77 without root, and where no such namespaces can be made, or the kernel refuses probes.
"""
import json
import os
import subprocess
import sys
import time

WAIT = 60  # seconds for each step
NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
LATER = ["unshare", "--time", "--monotonic", "1000000", "--fork"]
SLACK = 60e9  # nanoseconds that an event may lie from the times that the trace says
failures = 0


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"FAILED: {what}: {got}, not {wanted}")


def child_of(pid):
    limit = time.monotonic() + WAIT
    while time.monotonic() < limit:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    sys.exit("the program was not started")


def threads_of(pid):
    return {int(name) for name in os.listdir(f"/proc/{pid}/task")}


def trace(asyncdbg, pid, *options):
    done = subprocess.run([asyncdbg, "-p", str(pid), "--jsonl", "trace", *options], capture_output=True, text=True,
                          timeout=WAIT)
    if "refused" in done.stderr or "there are no probes" in done.stderr:
        print(f"left out: {done.stderr.strip()}")
        sys.exit(77)
    # A build with sanitizers does not read as fast as the program polls.
    check(f"status: {done.stderr}", done.returncode, 1 if "events were lost" in done.stderr else 0)
    head, *items, end = [json.loads(line) for line in done.stdout.splitlines()]
    items = [i for i in items if "event" in i]
    times = [i["t"] - head["start"] for i in items]
    check("times of events", [t for t in times if not 0 <= t <= end["duration_ns"] + SLACK], [])
    return items


def run_here(asyncdbg, traced, where):
    """The threads of the events are those that the program has, and workers are known by them."""
    words = [*NAMESPACE, traced] if where == "below" else [traced]
    started = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    started.stdout.readline()
    pid = child_of(started.pid) if where == "below" else started.pid
    started.stdin.write("rate 3600\n")
    started.stdin.flush()
    # The runtime is there once a task of it is polled.
    items, limit = [], time.monotonic() + WAIT
    while not items and time.monotonic() < limit:
        items = trace(asyncdbg, pid, "--duration", "300ms")
    threads = threads_of(pid)
    check(f"{where}: events", bool(items), True)
    check(f"{where}: threads of events", {i["tid"] for i in items} - threads, set())
    polls = [i for i in items if i["event"] == "task-poll-start"]
    check(f"{where}: workers of polls", any(i["worker"] is None for i in polls), False)
    started.kill()
    started.wait(WAIT)


def run_in(words, asyncdbg, traced, where):
    done = subprocess.run([*words, sys.executable, os.path.abspath(__file__), "--here", asyncdbg, traced, where],
                          timeout=10 * WAIT, check=False)
    if done.returncode == 77:
        sys.exit(77)
    check(f"{' '.join(words[:1])} {where}", done.returncode, 0)


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "--here":
        run_here(*arguments[1:])
        sys.exit(1 if failures else 0)
    if len(arguments) != 2:
        sys.exit(__doc__)
    if os.getuid() != 0 or subprocess.run([*NAMESPACE, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: no namespaces can be made here")
        sys.exit(77)
    asyncdbg, traced = map(os.path.realpath, arguments)
    for words in ([], NAMESPACE):
        for where in ("beside", "below"):
            run_in(words, asyncdbg, traced, where)
            print(f"asyncdbg in {'a namespace below' if words else 'our namespace'}, the program {where}: done")
    if subprocess.run([*LATER, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        run_in(LATER, asyncdbg, traced, "beside")
        print("a time namespace: done")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
