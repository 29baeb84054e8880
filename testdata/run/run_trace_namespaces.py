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

from harness import checks, trace as traced
from harness.checks import check
from harness.trace import WAIT, Program, child_of, wait_for

NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
LATER = ["unshare", "--time", "--monotonic", "1000000", "--fork"]
SLACK = 60e9  # nanoseconds that an event may lie from the times that the trace says


def threads_of(pid):
    return {int(name) for name in os.listdir(f"/proc/{pid}/task")}


def trace(asyncdbg, pid, *options):
    done = subprocess.run([asyncdbg, "-p", str(pid), "--jsonl", "trace", *options], capture_output=True, text=True,
                          timeout=WAIT)
    traced.leave_out_refused(done.stderr)
    # A build with sanitizers does not read as fast as the program polls.
    check(f"status: {done.stderr}", done.returncode, 1 if "events were lost" in done.stderr else 0)
    head, *items, end = [json.loads(line) for line in done.stdout.splitlines()]
    items = [i for i in items if "event" in i]
    times = [i["t"] - head["start"] for i in items]
    check("times of events", [t for t in times if not 0 <= t <= end["duration_ns"] + SLACK], [])
    return items


def run_here(asyncdbg, path, where):
    """The threads of the events are those that the program has, and workers are known by them."""
    program = Program(*NAMESPACE, path) if where == "below" else Program(path)
    pid = child_of(program.child.pid) if where == "below" else program.child.pid
    program.begin("rate 3600")
    # The runtime is there once a task of it is polled.
    items = wait_for(lambda: trace(asyncdbg, pid, "--duration", "300ms"))
    threads = threads_of(pid)
    check(f"{where}: events", bool(items), True)
    check(f"{where}: threads of events", {i["tid"] for i in items} - threads, set())
    polls = [i for i in items if i["event"] == "task-poll-start"]
    check(f"{where}: workers of polls", any(i["worker"] is None for i in polls), False)
    program.kill()


def run_in(words, asyncdbg, path, where):
    done = subprocess.run([*words, sys.executable, os.path.abspath(__file__), "--here", asyncdbg, path, where],
                          timeout=10 * WAIT, check=False)
    if done.returncode == 77:
        sys.exit(77)
    check(f"{' '.join(words[:1])} {where}", done.returncode, 0)


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "--here":
        run_here(*arguments[1:])
        checks.end()
    if len(arguments) != 2:
        sys.exit(__doc__)
    if os.getuid() != 0 or subprocess.run([*NAMESPACE, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: no namespaces can be made here")
        sys.exit(77)
    asyncdbg, path = map(os.path.realpath, arguments)
    for words in ([], NAMESPACE):
        for where in ("beside", "below"):
            run_in(words, asyncdbg, path, where)
            print(f"asyncdbg in {'a namespace below' if words else 'our namespace'}, the program {where}: done")
    if subprocess.run([*LATER, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        run_in(LATER, asyncdbg, path, "beside")
        print("a time namespace: done")
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
