#!/usr/bin/env python3
"""Stops and steps in tasks of a runtime that comes with a library, which the program loads only later.

usage: run_plugged.py ASYNCDBG HOST LIBRARY
"""
import json
import os
import pathlib
import signal
import subprocess
import sys

from run_plugin import LIMIT, expect, run, stops

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "plugged/src/lib.rs"
TIMES = 2


def line_of(text):
    return next(n for n, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


def root_of(tasks):
    return [task["type"].rpartition("::")[0] for task in tasks]


def check_tasks(asyncdbg, program):
    """Its tasks are listed, and a step follows one over its awaits."""
    commands = ["break plugged::job", f"run -- {program}", "tasks", "runtimes", "next", "next", "next", "next",
                "continue", "tasks", "delete 1", "continue"]
    answers, done = run(asyncdbg, commands)
    expect("errors", (0, ""), (done.returncode, "" if done.returncode == 0 else done.stderr))
    first = line_of("half(n).await")
    seen = stops(answers)
    expect("lines", list(range(first, first + 5)), [stop["line"] for stop in seen[:5]])
    expect("reasons", ["breakpoint", *["step"] * 4, "breakpoint", "exited"], [stop["reason"] for stop in seen])
    expect("a task", True, seen[0]["task"] is not None)
    expect("of one task", {seen[0]["task"]}, {stop["task"] for stop in seen[:5]})
    listed = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"id"')]
    expect("tasks", ["plugged::idle", "plugged::job"] * 2, sorted(root_of(listed[:2])) + sorted(root_of(listed[2:])))
    runtimes = next(answer for answer in answers if answer["command"] == "runtimes")["runtimes"]
    expect("runtimes", ["tokio"], [runtime["kind"] for runtime in runtimes])


class Host:
    """The program before it loads the library, and a session that has it already."""

    def __init__(self, asyncdbg, host, library):
        self.process = subprocess.Popen([host, library, "1", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "PLUGGED_STAYS": "1"})
        expect("ready", "ready\n", self.process.stdout.readline())
        self.session = subprocess.Popen([asyncdbg, "--jsonl", "-p", str(self.process.pid), "-x", "-"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)

    def load(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        expect("inside", "inside\n", self.process.stdout.readline())

    def send(self, command):
        self.session.stdin.write(command + "\n")
        self.session.stdin.flush()

    def answer(self, command):
        while (answer := json.loads(self.session.stdout.readline())).get("command") != command:
            pass
        return answer

    def ask(self, command):
        self.send(command)
        return self.answer(command.split()[0])

    def end(self):
        self.session.stdin.close()
        expect("asyncdbg", 0, self.session.wait(LIMIT))
        self.process.kill()
        self.process.wait(LIMIT)


def check_seen_later(asyncdbg, host, library):
    """A session that only looks, and one whose program runs without breakpoints, see what has come meanwhile."""
    looks = Host(asyncdbg, host, library)
    expect("no runtime", [], looks.ask("runtimes")["runtimes"])
    looks.load()
    expect("runtimes", ["tokio"], [runtime["kind"] for runtime in looks.ask("runtimes")["runtimes"]])
    again = subprocess.run([asyncdbg, "-p", str(looks.process.pid), "--jsonl", "tasks"], stdout=subprocess.PIPE,
                           text=True, timeout=LIMIT, check=True)
    expect("a second session", True, "plugged::idle" in again.stdout)
    looks.end()
    held = Host(asyncdbg, host, library)
    held.ask("attach")
    held.send("continue")
    held.load()
    held.session.send_signal(signal.SIGINT)
    expect("a stop", "interrupted", held.answer("continue")["stopped"]["reason"])
    expect("runtimes", ["tokio"], [runtime["kind"] for runtime in held.ask("runtimes")["runtimes"]])
    places = held.ask("break plugged::job")["breakpoints"][0]["places"]
    expect("its places", True, len(places) > 0)
    held.send("detach")
    held.end()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    check_tasks(sys.argv[1], f"{sys.argv[2]} {sys.argv[3]} {TIMES}")
    check_seen_later(*sys.argv[1:])
    print("runtimes in libraries: all as they should be")


main()
