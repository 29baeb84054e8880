#!/usr/bin/env python3
"""Debugs the program `steps`, lets it write a core at a stop, and compares what asyncdbg says
of the core with what it said at the stop.

usage: run_moments.py ASYNCDBG STEPS

Exit status 77 where the kernel gives cores to somebody else.
"""
import ctypes
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

from harness.checks import SKIPPED, expect
from harness.session import LIMIT, attach_session
from harness.steps import FIRST, SECOND, Steps

TRIES = 8  # threads run for a moment before the core: a worker may be on its way back to its system call
QUESTIONS = ["async backtrace all", "async backtrace", "async task {own}", "async task {other}", "backtrace", "backtrace 2",
             "frame", "locals", "print steps::LINE", "tasks", "runtimes", "async graph", "check", "info registers",
             "disassemble /r", "x/32xb $pc", "x/6i $pc"]
# What a core does not have, or what it has of all its answers together.
OF_A_PROCESS = ("pause_ms", "stop", "target", "skipped", "remaining_ms", "now", "signal")
OF_A_CORE = ("holdings", "unsearched", "local_set_tasks", "undriven_tasks")
# The thread that receives the signal, and what the clock says.
TEXTS = ((r"^running code|^[^ ]+, between system calls,|^in the C library, in no system call,|^killed by SIGABRT", "here"), (r"sleeping (at most )?\d+ seconds(, or overdue)?", "sleeping"))


def plain(answer, moving):
    """An answer without what differs between a process and a core. moving: tids of the threads that ran at
    the stop beside the one that stopped: they have gone on."""
    for pattern, text in TEXTS if isinstance(answer, str) else ():
        answer = re.sub(pattern, text, answer)
    if isinstance(answer, list):
        return [plain(part, moving) for part in answer
                if not (isinstance(part, dict) and part.get("tid") in moving)]
    if not isinstance(answer, dict):
        return answer
    left_out = OF_A_PROCESS + OF_A_CORE
    left_out += ("name",) if "tid" in answer else ("kind",) if answer.get("kind") in ("compute", "signal") else ()
    return {key: plain(value, moving) for key, value in answer.items() if key not in left_out}


def differences(path, one, other):
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(f"{path}.{key}", one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for n, (a, b) in enumerate(zip(one, other)):
            yield from differences(f"{path}[{n}]", a, b)
    elif one != other:
        yield f"{path}: {str(one)[:200]!r} at the stop, {str(other)[:200]!r} in the core"


def answers_of(session, questions):
    """The lines of the answer to each question; none to a variable that optimised code forgot."""
    answers = {}
    for question in questions:
        session.send(question)
        session.send("info")
        answers[question] = []
        while (answer := session.answer("{")).get("command") != "info":
            answers[question].append(answer)
    return answers


def read_core(asyncdbg, core, questions):
    commands = [word for question in questions for word in ("-e", question, "-e", "info")]
    done = subprocess.run([asyncdbg, "--jsonl", "-c", str(core), *commands], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    answers, questions, lines = {}, iter(questions), []
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("command") == "info":
            answers[next(questions)], lines = lines, []
        else:
            lines.append(answer)
    return answers, done


class Moment:
    """The program, attached to, with breakpoints that are never hit."""

    def __init__(self, asyncdbg, steps, folder):
        self.asyncdbg, self.folder = asyncdbg, pathlib.Path(folder)
        self.program = Steps(steps, cwd=folder)
        resource.prlimit(self.program.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
        self.session = attach_session(asyncdbg, self.program.pid)
        expect("attach", "attached", self.session.ask("attach")["stopped"]["reason"])
        # Both stay: one is in the function that is looked at.
        self.session.ask("break steps::stay")
        self.session.ask(f"break main.rs:{FIRST - 1} if 1 == 2")

    def ask(self, command, reason):
        stop = self.session.ask(command)["stopped"]
        expect(f"{command}: reason", reason, stop["reason"])
        return stop

    def compare(self, what, stop):
        """Asks at the stop; the thread that stopped receives SIGABRT before its next instruction; asks the core.
        Returns what differs."""
        tid = stop["thread"]["tid"]
        own = stop["task"] or stop["event"]["task"]
        questions = [f"thread {stop['thread']['number']}", *(q.format(own=own, other=self.program.ids[4]) for q in QUESTIONS)]
        frame = self.session.ask("locals")["native_frame"]
        questions += [f"print {variable['name']}" for variable in frame["locals"]]
        live = answers_of(self.session, questions)
        moving = {thread["tid"] for thread in live["async backtrace all"][0]["threads"]
                  if thread["tid"] != tid and thread["state"] not in ("parked", "waiting")}
        self.check_code(live["x/32xb $pc"][0]["memory"])
        # A step over a breakpoint would come before the signal.
        for number in stop["breakpoints"]:
            self.session.ask(f"delete {number}")
        expect("tgkill", 0, ctypes.CDLL(None).tgkill(self.program.pid, tid, int(signal.SIGABRT)))
        self.ask("continue", "signal")
        self.ask("continue", "killed")
        self.session.process.stdin.close()
        self.session.process.wait(LIMIT)
        self.program.process.wait(LIMIT)
        core, = self.folder.glob("core*")
        dead, done = read_core(self.asyncdbg, core, questions)
        core.unlink()
        if dead.keys() != live.keys():
            sys.exit(f"{what}: no answer to {live.keys() - dead.keys()} from the core: {done.stderr}")
        found = [line for question in questions
                 for line in differences(question, plain(live[question], moving), plain(dead[question], moving))]
        if not found:
            answered = sum(bool(lines) for lines in live.values())
            print(f"{what}: {answered} of {len(live)} questions have an answer, the same in the core")
        return found

    def check_code(self, memory):
        """What memory has at the stop is the code of the file: no breakpoint is seen."""
        shown = bytes(int(unit["value"], 16) for unit in memory["units"])
        expect("code at the stop", True, shown in self.program.code)


def at_breakpoint(moment):
    moment.session.ask(f"break main.rs:{SECOND}")
    moment.program.order("walk 1")
    return moment.ask("continue", "breakpoint")


def after_next(moment):
    """Over an await, at which the task is suspended until an order comes."""
    moment.session.ask(f"tbreak main.rs:{SECOND}")
    moment.program.order("walk 1")
    moment.ask("continue", "breakpoint")
    moment.program.order("walk 1")
    stop = moment.ask("next", "step")
    expect("next", True, stop["line"] > SECOND)
    return stop


def at_watch(moment):
    moment.session.ask("watch steps::LINE")
    moment.program.order("walk 2")
    return moment.ask("continue", "watchpoint")


def at_resume(moment):
    moment.session.ask(f"break --on-resume {moment.program.ids[3]}")
    moment.program.order("walk 3")
    return moment.ask("continue", "breakpoint")


def compare_moment(asyncdbg, steps, come):
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            moment = Moment(asyncdbg, steps, folder)
            found = moment.compare(come.__name__, come(moment))
        if not found:
            return
        print(f"{come.__name__}: a core of the stop differs:\n  " + "\n  ".join(found[:20]), flush=True)
    sys.exit(f"{come.__name__}: a core of the stop differs each time")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not re.fullmatch(r"core(\.%p)?", pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()):
        print("skipped: cores are not written where the program is")
        sys.exit(SKIPPED)
    asyncdbg, steps = sys.argv[1:]
    for come in (at_breakpoint, after_next, at_watch, at_resume):
        compare_moment(asyncdbg, steps, come)
    print("stops and cores: all as it should be")


main()
