#!/usr/bin/env python3
"""Stops, steps and events of tasks of a runtime that comes with a library, which the program loads only later.

usage: run_plugged.py ASYNCDBG HOST LIBRARY
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from harness.checks import expect
from harness.session import LIMIT, events, run_commands, stops
from harness.steps import line_in

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "plugged/src/lib.rs"
TIMES = 2
COPIES = 10


def line_of(text):
    return line_in(SOURCE, text)


def root_of(tasks):
    return [task["type"].rpartition("::")[0] for task in tasks]


def check_tasks(asyncdbg, program):
    """Its tasks are listed, and a step follows one over its awaits."""
    commands = ["break plugged::job", f"run -- {program}", "tasks", "runtimes", "next", "next", "next", "next",
                "continue", "tasks", "delete 1", "continue"]
    answers, done = run_commands(asyncdbg, commands)
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


def breakpoints(answers):
    return next(answer["breakpoints"] for answer in answers if answer["command"] == "info breakpoints")


def check_events(asyncdbg, program):
    """Breakpoints on events of tasks are found in it when it is loaded. Its threads keep it loaded."""
    commands = ["break --on-spawn plugged::job", f"run --stop -- {program}", "info breakpoints", *["continue"] * TIMES,
                "break --on-spawn plugged::absent", "info breakpoints", "continue"]
    answers, done = run_commands(asyncdbg, commands)
    expect("pending at first", (True, []), tuple(breakpoints(answers)[0][key] for key in ("pending", "places")))
    spawned = events(answers)
    expect("spawns", ["on-spawn"] * TIMES, [kind for kind, _ in spawned])
    expect("its end", ("exited", 0), (stops(answers)[-1]["reason"], done.returncode))
    after = breakpoints(answers[answers.index(next(a for a in answers if a["command"] == "info breakpoints")) + 1:])
    expect("pending while it is loaded", [(False, TIMES), (True, 0)], [(row["pending"], row["hits"]) for row in after])
    expect("words", 1, done.stderr.count("breakpoint 1 resolved: "))
    for _, task in spawned:
        check_events_of(asyncdbg, program, task)


def check_events_of(asyncdbg, program, task):
    """Events of a task that is known by its id alone, and is not there when its program begins."""
    for kind, times in (("on-resume", 4), ("on-wake", None), ("on-done", 1)):
        answers, done = run_commands(asyncdbg, [f"break --{kind} {task} --after 1000", f"run -- {program}", "info breakpoints"])
        expect(f"{kind}: its end", ("exited", 0), (stops(answers)[-1]["reason"], done.returncode))
        hits = breakpoints(answers)[0]["hits"]
        if not hits or times and hits != times:
            sys.exit(f"{kind} {task}: {hits} hits")


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


def check_event_later(asyncdbg, host, library):
    """A breakpoint on an event in a process that is attached to before it loads the library."""
    held = Host(asyncdbg, host, library)
    held.ask("attach")
    row = held.ask("break --on-spawn plugged::idle")["breakpoints"][0]
    expect("it waits", (True, []), (row["pending"], row["places"]))
    held.send("continue")
    held.process.stdin.write("\n")
    held.process.stdin.flush()
    stop = held.answer("continue")["stopped"]
    expect("a spawn", ("breakpoint", "on-spawn"), (stop["reason"], stop["event"] and stop["event"]["kind"]))
    held.send("detach")
    held.end()


def check_many(asyncdbg, host, library):
    """Of many copies of tokio, none of which a thread is inside, each has its tasks."""
    with tempfile.TemporaryDirectory() as directory:
        copies = [shutil.copy(library, f"{directory}/lib{n}.so") for n in range(COPIES)]
        with subprocess.Popen([host, ":".join(copies), "2", "wait"], env=dict(os.environ, PLUGGED_LEAVES="1"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            expect("it waits", "ready\n", process.stdout.readline())
            process.stdin.write("\n")
            process.stdin.flush()
            while process.stdout.readline() != "ready\n":
                pass
            done = subprocess.run([asyncdbg, "-p", str(process.pid), "--json", "tasks"], stdout=subprocess.PIPE,
                                  text=True, timeout=LIMIT, check=False)
            process.kill()
    tasks = json.loads(done.stdout)["tasks"]
    expect("tasks of copies", ["plugged::idle"] * COPIES, root_of(tasks))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    check_tasks(sys.argv[1], f"{sys.argv[2]} {sys.argv[3]} {TIMES}")
    check_seen_later(*sys.argv[1:])
    check_events(sys.argv[1], f"{sys.argv[2]} {sys.argv[3]} {TIMES}")
    check_event_later(*sys.argv[1:])
    check_many(*sys.argv[1:])
    print("runtimes in libraries: all as they should be")


main()
