#!/usr/bin/env python3
"""Counts how often a look makes system calls of the program fail with EINTR.

usage: run_interrupted.py ASYNCDBG [EXECUTABLE]

EXECUTABLE is programs/tokio_tcp; without one it is built with the newest lock. It runs with
interrupted.c beside it: threads of no runtime in calls that a stop interrupts. Commands that do
not show those threads must leave them asleep. Exit status 77 where there is no cargo.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
CALLS = ["epoll_wait", "recv with a timeout", "semop", "sigtimedwait"]
LOOKS = 20
# What leaves them asleep, and what stops all threads, with the status of an answer.
ASLEEP = ["async backtrace", "async backtrace all", "tasks", "runtimes", "--no-stop tasks",
          "--no-stop threads"]
STOPPED = ["threads", "--stop-all tasks"]


def build():
    script = f""". {TESTDATA}/../scripts/lib.sh; find_cargo || exit 77
        "{TESTDATA}/make/build_programs.sh" "$(newest_lock)" debug tokio_tcp | tail -n 1"""
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return pathlib.Path(done.stdout.strip()) / "tokio_tcp"


def read(counts):
    data = counts.read_bytes() if counts.exists() else b""
    return list(struct.unpack(f"{len(CALLS)}q", data)) if len(data) == 8 * len(CALLS) else [-1]


def asleep(pid):
    """Whether no thread runs: each call is made."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "stat").read_text().rpartition(")")[2].split()[0] != "S":
            return False
    return True


def look(asyncdbg, pid, counts, words):
    """How often each call was interrupted meanwhile."""
    before = read(counts)
    for _ in range(LOOKS):
        done = subprocess.run([asyncdbg, "-p", str(pid), *words.split()],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode > 1:
            sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
        while not asleep(pid):
            time.sleep(0.01)
    return [now - then for now, then in zip(read(counts), before)]


def main():
    asyncdbg = os.path.realpath(sys.argv[1])
    executable = sys.argv[2] if len(sys.argv) > 2 else build()
    failures = 0
    with tempfile.TemporaryDirectory() as work:
        library, counts = pathlib.Path(work) / "interrupted.so", pathlib.Path(work) / "counts"
        subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", "-o", library,
                        TESTDATA / "run/interrupted.c", "-pthread"], check=True)
        environment = os.environ | {"LD_PRELOAD": str(library), "INTERRUPTED": str(counts)}
        program = subprocess.Popen([executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, env=environment)
        try:
            assert program.stdout.readline() == "ready\n"
            while min(read(counts)) < 0 or not asleep(program.pid):
                time.sleep(0.01)
            for words in ASLEEP + STOPPED:
                times = look(asyncdbg, program.pid, counts, words)
                said = ", ".join(f"{name} {n}" for name, n in zip(CALLS, times))
                print(f"{words}: {said}")
                failures += words in ASLEEP and any(times)
        finally:
            program.stdin.close()
            program.wait(30)
    if failures:
        sys.exit(f"{failures} commands interrupt threads that they could leave asleep")


main()
