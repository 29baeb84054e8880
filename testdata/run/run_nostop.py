#!/usr/bin/env python3
"""Looks at a program whose tasks come and go at full speed, stopping it more or less.

usage: run_nostop.py ASYNCDBG [EXECUTABLE]

EXECUTABLE is programs/churn; without it, it is built in release with the newest lock. Whatever
asyncdbg is allowed to do to the program: it must not crash, a task that it does not mark as
changed must be right, and where it may stop, nothing is marked. Idle threads of the blocking pool
sleep on through a stop.
"""

import json
import pathlib
import re
import subprocess
import sys
import time

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
ROUNDS = 8
# A look copies so often until it lacks no page, and tries each stop so often.
ROUNDS_OF_LOOK = TRIES = 3
KNOWN = {
    "churn::stay": ["churn::sleeps"],
    "churn::hold": [],
    "churn::receive": [],
    "churn::spawn_for_ever": None,
    "churn::come_and_go": None,
}
failures = []


def bad(what):
    print(what)
    failures.append(what)


def build():
    locks = sorted((TESTDATA / "locks").glob("tokio-*.lock"),
                   key=lambda path: [int(n) for n in re.findall(r"\d+", path.stem)])
    built = subprocess.run([TESTDATA / "make/build_programs.sh", locks[-1], "release", "churn"],
                           check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(built.stdout.splitlines()[-1]) / "churn"


def status(pid, tid):
    return pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text()


def switches(pid, tid):
    """How often it was switched, once it sleeps: one that was stopped before goes back to that."""
    until = time.monotonic() + 60
    while not re.search(r"^State:\sS", status(pid, tid), re.MULTILINE):
        assert time.monotonic() < until, f"thread {tid} does not go back to sleep"
    return sum(int(n) for n in re.findall(r"voluntary_ctxt_switches:\s(\d+)", status(pid, tid)))


def chain(task):
    """The functions of the root's chain, and whether each is suspended."""
    names, future = [], task["root"]
    while future:
        if future["function"]:
            names.append(future["function"])
        future = future["children"][0] if future["children"] else None
    return names


def check_stays(mode, task):
    names = chain(task)
    rest = KNOWN.get(names[0]) if names else None
    if rest is None or names[1:1 + len(rest)] != rest:
        bad(f"{mode}: task {task['id']} stays, but is shown as {names}")
    if task["state"] != "idle" or task["problem"] or not task["waiting_on"]:
        bad(f"{mode}: task {task['id']}: {task['state']}, {task['problem']}")


def check_answer(mode, answer, truth):
    stay, seen = set(truth["stay"]), set()
    for task in (row for row in answer["tasks"] if row["kind"] == "task"):
        if task.get("changed"):
            if answer["stop"]["mode"] == "stopped":
                bad(f"{mode}: task {task['id']} is marked although all stood still")
            continue
        if int(task["id"]) in stay:
            seen.add(int(task["id"]))
            check_stays(mode, task)
        elif task["root"] and chain(task)[0] not in KNOWN:
            bad(f"{mode}: task {task['id']} is shown as {chain(task)}")
    if stay - seen and (answer["complete"] or not answer["notes"]):
        bad(f"{mode}: {len(stay - seen)} tasks are missing, and nothing says so")
    return len(seen)


def ask(asyncdbg, pid, options):
    done = subprocess.run([asyncdbg, "-p", str(pid), "--json", *options, "async", "backtrace",
                           "all"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode not in (0, 1):
        bad(f"{options}: asyncdbg ends with {done.returncode}: {done.stderr[-2000:]}")
        return None
    return json.loads(done.stdout)


def is_justified(stop, limit):
    """Whether what the answer says of its stops is a reason for its mode, however busy the machine is:
    a stop has taken most of the limit, in milliseconds, or the program has changed at every try."""
    took_long = stop["longest_ms"] >= limit * 0.4
    if stop["mode"] == "limited":
        return took_long or stop["stops"] >= ROUNDS_OF_LOOK
    return stop["mode"] == "stopped" or (took_long and stop["stops"] >= TRIES)


def look(asyncdbg, pid, truth, options, modes, limit=None):
    mode = " ".join(options) or "default"
    best = 0
    for _ in range(ROUNDS):
        before = {tid: switches(pid, tid) for tid in truth["pool"]}
        answer = ask(asyncdbg, pid, options)
        if not answer:
            return
        stop = answer["stop"]
        if stop["mode"] not in modes:
            bad(f"{mode}: it was read as {stop['mode']}")
        if limit and not is_justified(stop, limit):
            bad(f"{mode}: nothing says why it was read as {stop['mode']}: {stop}")
        if stop["mode"] == "running" and options == ["--no-stop"] and stop["stops"]:
            bad(f"{mode}: it was stopped {stop['stops']} times")
        best = max(best, check_answer(mode, answer, truth))
        moved = [tid for tid in truth["pool"] if switches(pid, tid) != before[tid]]
        if options == ["--no-stop"] and moved:
            bad(f"{mode}: threads {moved} of the pool did not sleep on")
        if options == ["--stop-all"] and len(moved) != len(truth["pool"]):
            bad(f"{mode}: only {moved} of the pool were stopped")
        if not options and stop["threads"] == 3 and stop["stops"] == 1 and moved:
            bad(f"{mode}: threads {moved} of the pool were stopped")
    # With luck alone a task may be missed, not most of them each time.
    if best < len(truth["stay"]) * 3 // 4:
        bad(f"{mode}: at best {best} of {len(truth['stay'])} tasks were shown")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 64
    asyncdbg = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) == 3 else build()
    child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        truth = json.loads(child.stdout.readline())
        assert child.stdout.readline() == "ready\n"
        everything = ("stopped", "limited", "running")
        look(asyncdbg, child.pid, truth, [], everything, 20)
        look(asyncdbg, child.pid, truth, ["--stop-all"], ("stopped",))
        look(asyncdbg, child.pid, truth, ["--no-stop"], ("running",))
        look(asyncdbg, child.pid, truth, ["--max-pause", "0"], ("running",))
        look(asyncdbg, child.pid, truth, ["--max-pause", "0.05"], everything)
        look(asyncdbg, child.pid, truth, ["--max-pause", "0.3"], everything)
        look(asyncdbg, child.pid, truth, ["--max-pause", "1000"], everything, 1000)
        if child.poll() is not None:
            bad("the program is gone")
    finally:
        child.kill()
        child.wait()
    print("churn: ok" if not failures else f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
