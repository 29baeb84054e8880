#!/usr/bin/env python3
"""What a traced program may do, and what may happen to its trace: see the functions' first lines.

usage: run_trace_survival.py ASYNCDBG TRACED [NAME...]

TRACED  the program traced, a release build
NAME    only these: a function's name without "test_"

Ends with 77 where the kernel refuses probes to us. What only root can try is left out for others.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import run_trace
from harness import checks, trace as shared
from run_trace import END, SPAWN, START, count
from harness.checks import check
from harness.trace import WAIT, Program, Trace, child_of, wait_for

MOMENTS = 30  # at which a program ends while asyncdbg attaches


def compare(what, trace, truth):
    """Polls and spawns of tasks, and nothing lost."""
    check(f"{what}: polls", count(trace.items, START, "task"), truth["polls"])
    check(f"{what}: ends", count(trace.items, END, "task"), truth["polls"])
    check(f"{what}: spawns", count(trace.items, SPAWN, "task"), truth["spawned"])
    check(f"{what}: lost", trace.end["lost"], 0)


def test_fork(asyncdbg, program):
    """The program forks: the child runs on, and is not traced."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, [])
    truth = traced.run("fork 500")
    traced.end()
    trace.finish()
    check("fork: the child's status", truth["status"], 7)
    compare("fork", trace, truth)
    check("fork: status", trace.status, 0)


def test_exec(asyncdbg, program):
    """The program executes itself: the trace ends, the new program runs on without breakpoints."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, [])
    truth = traced.run("pingpong 20")  # what fits into a pipe that is read later
    traced.begin("exec flat 1")
    traced.lines_until("ready")
    after = traced.truth()
    trace.finish()
    compare("exec", trace, truth)
    check("exec: it says so", "has executed another program" in trace.message(), True)
    check("exec: status", trace.status, 0)
    check("exec: the new program works", after["polls"] > 1000, True)
    traced.end()
    check("exec: its status", traced.child.returncode, 0)


def test_moments(asyncdbg, program):
    """The program ends at any moment while asyncdbg attaches to it."""
    def start(*options):
        return subprocess.Popen([asyncdbg, "--log", "all", "-p", str(traced.child.pid), "--jsonl", "trace", *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    traced = Program(program)
    logged = len(start("--duration", "1ms").communicate(timeout=WAIT)[1].splitlines())
    traced.end()
    for i in range(MOMENTS):
        traced = Program(program)
        trace = start()
        for _ in range(logged * i // MOMENTS):
            trace.stderr.readline()
        traced.end()
        errors = "".join(line for line in trace.stderr if not line.startswith("["))
        lines = [json.loads(line) for line in trace.stdout]
        trace.wait(WAIT)
        check(f"moment {i}: status {trace.returncode} with {errors}", trace.returncode in (0, 1, 2), True)
        if trace.returncode == 2:
            check(f"moment {i}: one line: {errors}", errors.count("\n"), 1)
        else:
            check(f"moment {i}: the last line", lines[-1]["event"], "end")
        check(f"moment {i}: the program's status", traced.child.returncode, 0)


def test_two(asyncdbg, program):
    """Two traces of one process: each sees all of it."""
    traced = Program(program)
    traces = [Trace(asyncdbg, traced.child.pid, []) for _ in range(2)]
    truth = traced.run("pingpong 500")
    traced.end()
    for trace in traces:
        trace.finish()
        compare("two", trace, truth)
        check("two: status", trace.status, 0)


def test_namespaces(asyncdbg, program):
    """A program in a mount and a PID namespace of its own, where its file has another path."""
    if os.getuid() != 0 or not shutil.which("unshare"):
        print("namespaces: left out")
        return
    with tempfile.TemporaryDirectory() as hidden, tempfile.TemporaryDirectory() as top:
        shutil.copy(program, os.path.join(hidden, "inside"))
        script = f'mount --bind "{hidden}" "{top}" && exec "{top}/inside"'
        traced = Program("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script)
        pid = child_of(traced.child.pid)
        trace = Trace(asyncdbg, pid, [])
        truth = traced.run("pingpong 200")
        threads = {i for i in map(int, os.listdir(f"/proc/{pid}/task"))}
        traced.end()
        trace.finish()
        compare("namespaces", trace, truth)
        check("namespaces: threads as seen from outside", min(i["tid"] for i in trace.items) >= min(threads), True)


def check_lines(what, file):
    with open(file, encoding="utf-8") as opened:
        *lines, rest = opened.read().split("\n")
    check(f"{what}: the last line", rest, "")
    check(f"{what}: many lines", len(lines) > 100, True)
    return lines


def check_json_lines(what, file):
    check(f"{what}: lines that are JSON", all(isinstance(json.loads(line), dict) for line in check_lines(what, file)), True)


def check_text(what, file):
    check(f"{what}: whole lines", all("  task-" in line or "  worker-" in line for line in check_lines(what, file)[1:]), True)


def check_packets(what, file):
    counts = run_trace.decode_perfetto(file, "--partial")
    check(f"{what}: many packets", not counts or counts["packets"] > 100, True)


# How a trace is written, and what has to be true of what is left of its file.
FULL = [("trace.jsonl", ["--jsonl"], check_json_lines), ("trace.txt", [], check_text), ("trace.pftrace", [], check_packets)]


def fill(what, asyncdbg, program, file, options, check_file):
    traced = Program(program)
    trace = subprocess.Popen([asyncdbg, "-p", str(traced.child.pid), *options, "trace", "-o", file],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: os.path.exists(file) and os.path.getsize(file) or trace.poll() is not None)
    traced.run("pingpong 5000")
    errors = trace.communicate(timeout=WAIT)[1]
    check(f"{what}: status with {errors}", trace.returncode, 2)
    check(f"{what}: what it says: {errors}", "No space left on device" in errors, True)
    check_file(what, file)
    check(f"{what}: the program works", traced.run("pingpong 10")["wakes"], 20)
    traced.end()


def test_full(asyncdbg, program):
    """The disk is full: it says so, and what it has written is valid up to the last whole line or packet."""
    directory = tempfile.mkdtemp()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", directory],
                                          capture_output=True).returncode != 0:
        os.rmdir(directory)
        print("full: left out")
        return
    try:
        for name, options, check_file in FULL:
            file = os.path.join(directory, name)
            fill(f"full {name}", asyncdbg, program, file, options, check_file)
            os.remove(file)
    finally:
        subprocess.run(["umount", directory], check=True)
        os.rmdir(directory)


def test_overrun(asyncdbg, program):
    """asyncdbg stands still for some time: what is lost is counted, and nothing else is missing."""
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--events", f"{START},{END}"])
    trace.child.send_signal(signal.SIGSTOP)
    polls = traced.overrun() + 202
    trace.child.send_signal(signal.SIGCONT)
    traced.run("pingpong 100")
    traced.end()
    trace.finish()
    check("overrun: status", trace.status, 1)
    check("overrun: lost", trace.end["lost"] > 0, True)
    check("overrun: it says so", "events were lost" in trace.message(), True)
    seen = count(trace.items, START, "task") + count(trace.items, END, "task")
    check("overrun: fewer polls than there were", seen < 2 * polls, True)
    check("overrun: what is not lost is there", seen + trace.end["lost"] >= 2 * polls, True)


def writes_to_pipe(pid):
    """Whether a process sleeps in the kernel's function that writes to a pipe."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return "pipe_write" in file.read()


def test_signals(asyncdbg, program):
    """Signals end the trace, also while it writes to a pipe that is full: the output is whole."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        traced = Program(program)
        trace = Trace(asyncdbg, traced.child.pid, [])
        truth = traced.run("pingpong 400")
        check(f"signal {number}: the pipe is full", wait_for(lambda: writes_to_pipe(trace.child.pid)), True)
        trace.child.send_signal(number)
        trace.finish()
        compare(f"signal {number}", trace, truth)
        check(f"signal {number}: status", trace.status, 0)
        run_trace.check_untouched(f"signal {number}", program, traced)
        traced.end()


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    asyncdbg, program, *names = arguments
    traced = Program(program)
    trace = Trace(asyncdbg, traced.child.pid, ["--duration", "1ms"])
    if not trace.head:
        shared.leave_out_refused(trace.message())
    trace.finish()
    traced.end()
    checks.run_tests(globals(), names, (asyncdbg, program))
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
