#!/usr/bin/env python3
"""A client of `asyncdbg dap` that looks at the program of merged/, whose functions have equal code in pairs. No
frame may name one of a pair as a fact, unless its task has that one.

usage: run_dap_merged.py ASYNCDBG MERGED [PLAIN...]

PLAIN   plain functions that the linker has merged: a breakpoint is set on the first, and the frame of the stop must
        name all
"""
import pathlib
import re
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
from harness.checks import Failure, expect, expect_in
from harness.dap import Client


def own_of(functions):
    return {f"merged::{name}" for name in functions}


def functions_in(name):
    return set(re.findall(r"merged::\w+", name))


def is_wrong(name, functions, known):
    """Whether a frame names functions of the program, and none of the task's."""
    named = functions_in(name) & known
    return named and not named & own_of(functions) and "one that shares its code" not in name


def check_task(client, threads, task, functions, known):
    """Each frame of the task's stack names what it has, alone or among others."""
    shown = [t for t in threads if re.search(rf"\btask {task}\b", t["name"])]
    if not shown:
        return
    names = [frame["name"] for frame in client.stack(shown[0]["id"]) if frame.get("presentationHint") != "label"]
    if not any(functions_in(name) for name in names):
        raise Failure(f"task {task} has no frames")
    expect(f"frames of task {task}, {functions}, that name others", [],
           [name for name in names if is_wrong(name, functions, known)])


def check_tasks(asyncdbg, program):
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as merged:
        try:
            expect("begins", "ready\n", merged.stdout.readline())
            truth = [merged.stdout.readline().split()[1:] for _ in range(17)]
            client = Client([asyncdbg, "dap"])
            client.start("attach", pid=merged.pid)
            client.request("pause", threadId=1)
            client.event("stopped")
            threads = client.threads()
            known = own_of(name for _, *functions in truth for name in functions)
            for task, *functions in truth:
                check_task(client, threads, task, functions, known)
            client.end()
        finally:
            merged.kill()


def check_plain(asyncdbg, program, names):
    client = Client([asyncdbg, "dap"])
    client.start("launch", program=program, functions=[f"merged::{names[0]}"])
    stopped = client.event("stopped", reason="function breakpoint")
    top = client.stack(stopped["threadId"])[0]["name"]
    for name in names:
        expect_in("the frame of the stop", f"merged::{name}", top)
    client.end()


def test(asyncdbg, program, *names):
    check_tasks(asyncdbg, program)
    if names:
        check_plain(asyncdbg, program, names)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    test(*sys.argv[1:])
