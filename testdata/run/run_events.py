#!/usr/bin/env python3
"""Halts programs at events of their tasks, at panics, deadlocks and signals.

usage: run_events.py ASYNCDBG PROGRAMS

PROGRAMS is the folder of the built programs.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from harness.checks import expect
from harness.session import LIMIT, events, run_commands, stops
from harness.steps import WALKERS, line_of, tracer_of, truth_of


def run(asyncdbg, commands, orders="", waits=False):
    """The answers of commands, one a line, what the program said of itself, and the process."""
    answers, done = run_commands(asyncdbg, commands, orders, ("--batch",), waits)
    return answers, truth_of(done), done


def check_spawns_of_blocks(asyncdbg, stepping):
    """An async block is named as it is shown."""
    answers, _, _ = run(asyncdbg, ["break --on-spawn poll::{async_block#0}", f"run -- {stepping} migrates", "kill"])
    expect("spawns of a block", ["on-spawn"], [kind for kind, _ in events(answers)])


def functions(answer):
    return [str(frame["function"]) for frame in answer["threads"][0]["frames"]]


def check_spawns(asyncdbg, steps):
    """Each task of a type; returns the ids of the walkers."""
    commands = ["break --on-spawn steps::walk", f"run -- {steps}", *["continue"] * WALKERS, "info breakpoints",
                "delete", "continue"]
    answers, truth, done = run(asyncdbg, commands, "spawn\n")
    expect("errors", (0, ""), (done.returncode, "".join(re.findall("error.*", done.stderr))))
    ids = [str(number) for number in truth["walkers"]]
    new = re.search(r"^done (\d+)$", done.stdout, re.M).group(1)
    expect("spawns", [("on-spawn", task) for task in [*ids, new]], events(answers))
    first = next(a for a in answers if "stopped" in a)
    expect("who spawns", None, first["stopped"]["task"])
    if not any("steps::main" in name for name in functions(first)):
        sys.exit(f"the stack of a spawn: {functions(first)}")
    breakpoints = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"]
    expect("hits", WALKERS + 1, breakpoints[0]["hits"])
    return ids


def check_wakes(asyncdbg, steps, ids):
    """A task that is not there yet, woken by a thread that runs none."""
    commands = [f"break --on-wake {ids[3]}", f"run -- {steps}", "continue", "delete", "continue"]
    answers, _, done = run(asyncdbg, commands, "walk 2\nwalk 3\nwalk 1\nwalk 3\n")
    expect("wake-ups", [("on-wake", ids[3])] * 2, events(answers))
    first = next(a for a in answers if "stopped" in a)
    if not any("steps::main" in name for name in functions(first)):
        sys.exit(f"the stack of a wake-up: {functions(first)}")
    if "is woken by no task" not in first["stopped"]["event"]["text"]:
        sys.exit(f"a wake-up: {first['stopped']['event']}")
    expect("its end", ("exited", 0), (stops(answers)[-1]["reason"], done.returncode))


def check_polls(asyncdbg, steps, ids):
    """The first poll, and one for each order; those of others pass."""
    commands = [f"break --on-resume {ids[1]}", f"run -- {steps}", *["continue"] * 2, "delete", "continue"]
    answers, _, _ = run(asyncdbg, commands, "walk 1\nwalk 2\nwalk 1\n")
    expect("polls", [("on-resume", ids[1])] * 3, events(answers))
    commands = [f"break --on-resume {ids[1]} --after 2", f"run -- {steps}", "delete", "continue"]
    answers, _, _ = run(asyncdbg, commands, "walk 1\nwalk 2\nwalk 1\n")
    expect("polls after two", [("on-resume", ids[1])], events(answers))


def check_ends(asyncdbg, steps, ids):
    """The ends of two tasks, one of them for once."""
    commands = [f"break --on-done {ids[2]}", f"tbreak --on-done {ids[1]}", f"break --on-done {ids[0]}",
                f"run -- {steps}", "continue", "delete 3", "info breakpoints", "continue"]
    answers, _, _ = run(asyncdbg, commands, "end 2\nwalk 0\nend 1\nwalk 0\n")
    expect("ends", [("on-done", ids[2]), ("on-done", ids[1])], events(answers))
    expect("the end", "exited", stops(answers)[-1]["reason"])
    breakpoints = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"]
    expect("breakpoints", [("on-done", f"on-done {ids[2]}", 1)],
           [(row["event"], row["place"], row["hits"]) for row in breakpoints])


def check_drops(asyncdbg, steps, stepping, ids):
    """A future that has returned is not dropped before; one that is cancelled, or whose runtime ends, is."""
    answers, _, done = run(asyncdbg, [f"break --on-drop {ids[2]}", f"break --on-drop {ids[1]}", f"run -- {steps}",
                                      "info breakpoints"], "end 2\nend 1\nwalk 0\n")
    expect("futures that have returned", [], events(answers))
    for scenario in ("aborted", "shutdown"):
        answers, _, _ = run(asyncdbg, ["break --on-spawn together::loser", f"run -- {stepping} {scenario}", "kill"])
        task = events(answers)[0][1]
        answers, _, done = run(asyncdbg, [f"break --on-drop {task}", f"run -- {stepping} {scenario}", "continue",
                                          "info breakpoints"])
        expect(f"{scenario}: drops", [("on-drop", task)], events(answers))
        first = next(a for a in answers if "stopped" in a)
        text = first["stopped"]["event"]["text"]
        if not re.search(rf"^task {task} is dropped before it has returned, in state Suspend\d, at .*together.rs:\d+",
                         text):
            sys.exit(f"{scenario}: {text}")
        if not any("drop" in name for name in functions(first)):
            sys.exit(f"{scenario}: the stack of a drop: {functions(first)}")
        expect(f"{scenario}: its end", ("exited", 0), (stops(answers)[-1]["reason"], done.returncode))


def check_boxed_drops(asyncdbg, program):
    """Futures in boxes and spans: those that are dropped are seen, unless a note says that the compiler has
    inlined the drop, and those that return are not."""
    done = subprocess.run([program], input="\n", stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True)
    ids = json.loads(done.stdout.splitlines()[0])
    numbers = [str(number) for number in ids["dropped"] + ids["returned"]]
    begin = [*[f"break --on-drop {number}" for number in numbers], f"run -- {program}"]
    answers, _, _ = run(asyncdbg, [*begin, "info breakpoints", "continue", "continue", "continue"], "\n")
    rows = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"]
    inlined = [row["place"].split()[1] for row in rows if "inlined" in (row["note"] or "")]
    # Its box is no trait object, and in no span: the drop may be inlined into that of the task.
    boxed = str(ids["dropped"][1])
    unseen = [boxed] if boxed in inlined and ("on-drop", boxed) not in events(answers) else []
    wanted = [str(number) for number in ids["dropped"] if str(number) not in unseen]
    answers, _, done = run(asyncdbg, [*begin, *["continue"] * len(wanted)], "\n")
    expect("drops in boxes and spans", [("on-drop", task) for task in wanted], events(answers))
    expect("its end", ("exited", 0), (stops(answers)[-1]["reason"], done.returncode))
    for stop in stops(answers)[:-1]:
        if not re.search(r"before it has returned, in state Suspend0, at .*dropped.rs:\d+$", stop["event"]["text"]):
            sys.exit(f"a drop: {stop['event']}")


def check_tasks(asyncdbg, steps, ids):
    """Places in code for one task: hits of others are not counted, and halt nothing."""
    second = line_of("let second = orders.recv().await")
    commands = [f"break main.rs:{second} --task {ids[1]} --every 2",
                f"break main.rs:{second} if task.id == {ids[3]} && task.id != 0",
                f"run -- {steps}", "continue", "continue", "info breakpoints", "delete", "continue"]
    walks = "".join(f"walk {number}\n" for number in (1, 2, 1, 3, 1, 2, 1, 1, 1, 1))
    answers, _, _ = run(asyncdbg, commands, walks)
    expect("stops", [(2, ids[3]), (1, ids[1]), (1, ids[1])],
           [(stop["breakpoint"], stop["task"]) for stop in stops(answers)[:3]])
    rows = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"]
    expect("hits", [(4, 0), (1, 0)], [(row["hits"], row["unreadable"]) for row in rows])


def check_again(asyncdbg, steps, ids):
    """Breakpoints on events are there when the program is started again."""
    commands = [f"break --on-done {ids[4]}", f"run -- {steps}", "kill", "run"]
    answers, _, _ = run(asyncdbg, [*commands, "disable 1", "continue"], "end 4\nend 4\n")
    expect("ends of two programs", ["breakpoint", "killed"], [stop["reason"] for stop in stops(answers)][:2])


def check_refused(asyncdbg, steps, work):
    """What is no event, and what a build does not show."""
    answers, _, _ = run(asyncdbg, [f"run --stop -- {steps}", "break --on-spawn no::such::future", "kill"])
    row = next(a for a in answers if a["command"] == "break")["breakpoints"][0]
    if not row["pending"] or "no task of the program runs a future of such a type; it is resolved" not in row["note"]:
        sys.exit(f"a type that is not there: {row}")
    for wrong, words in (("break", "needs a place"), ("break main --on-wake 1", "takes one place"),
                         ("break --on-wake x", "not a task id"), ("break --on-done 1 --on-wake 1", "one")):
        _, _, done = run(asyncdbg, [wrong])
        if words not in done.stderr:
            sys.exit(f"{wrong}: {done.stderr!r}")
    stripped = pathlib.Path(work) / "stripped"
    shutil.copy(steps, stripped)
    subprocess.run(["strip", stripped], check=True)
    _, _, done = run(asyncdbg, [f"run --stop -- {stripped}", "break --on-spawn walk", "kill"])
    if "stripped" not in done.stderr:
        sys.exit(f"a stripped program: {done.stderr}")


def check_panics(asyncdbg, panicked):
    """A panic that a runtime catches: its task, its message, and the stack, which is whole still."""
    for kind in ("panic", "task-panic"):
        answers, _, _ = run(asyncdbg, [f"catch {kind}", f"run -- {panicked} panic", "info breakpoints", "kill"])
        first = next(a for a in answers if "stopped" in a)
        stop = first["stopped"]
        expect(f"catch {kind}", ("breakpoint", kind), (stop["reason"], stop["event"]["kind"]))
        if not stop["event"]["text"].endswith(": the first one") or not stop["event"]["task"]:
            sys.exit(f"a panic: {stop['event']}")
        expect("its task", stop["event"]["task"], stop["task"])
        if not any("panicked::crash::crash" in name for name in functions(first)):
            sys.exit(f"the stack of a panic: {functions(first)}")
        row = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"][0]
        expect("its row", (kind, f"catch {kind}", 1), (row["event"], row["place"], row["hits"]))


def check_caught_panics(asyncdbg, stepping):
    """A panic that the program catches itself ends no task; one that its task does not catch does."""
    answers, _, _ = run(asyncdbg, ["catch panic", "catch task-panic", f"run -- {stepping} catches", "continue"])
    expect("a panic that is caught", ["panic", None],
           [stop["event"] and stop["event"]["kind"] for stop in stops(answers)])
    answers, _, _ = run(asyncdbg, ["catch task-panic", f"run -- {stepping} joins", "continue"])
    expect("a panic of a task", ["task-panic", None],
           [stop["event"] and stop["event"]["kind"] for stop in stops(answers)])
    if "is about to end by a panic: planned" not in stops(answers)[0]["event"]["text"]:
        sys.exit(f"a panic of a task: {stops(answers)[0]['event']}")


def check_deadlocks(asyncdbg, programs):
    """A look finds a deadlock while the program runs; each one is reported once."""
    commands = ["catch deadlock --every 50ms", f"run -- {programs / 'deadlocks'}", "info breakpoints", "continue",
                "kill"]
    answers, _, _ = run(asyncdbg, commands, waits=True)
    found = [stop["event"] for stop in stops(answers) if stop["event"]]
    expect("deadlocks", ["deadlock"] * 2, [event["kind"] for event in found])
    if found[0]["text"] == found[1]["text"]:
        sys.exit(f"the same deadlock twice: {found}")


def check_signals(asyncdbg, steps):
    """What handle has set holds, also before the program is there."""
    commands = ["handle SIGUSR1 stop nopass", "info signals USR1", f"run --stop -- {steps}", "handle 10 nostop",
                "info signals SIGUSR1", "kill"]
    answers, _, _ = run(asyncdbg, commands)
    rows = [a["signals"][0] for a in answers if "signals" in a]
    expect("rows", [(10, "SIGUSR1", True, True, False)] * 2 + [(10, "SIGUSR1", False, True, False)] * 2,
           [(row["number"], row["name"], row["stop"], row["print"], row["pass"]) for row in rows])
    for wrong, words in (("handle SIGKILL nostop", "cannot be handled"), ("handle SIGNONE stop", "is not a signal"),
                         ("handle SIGUSR1 maybe", "is not a signal"), ("handle USR1 stop maybe", "is not one of"),
                         ("catch deadlock", "needs --every"), ("catch panic --every 1s", "only for catch deadlock"),
                         ("catch fire", "cannot be caught")):
        _, _, done = run(asyncdbg, [wrong])
        if words not in done.stderr:
            sys.exit(f"{wrong}: {done.stderr!r}")


def check_crash(asyncdbg, panicked):
    """A signal that would end a program is replaced by none, and comes again."""
    commands = ["handle SIGSEGV stop", f"run -- {panicked} segv", "signal 0", "signal SIGTERM"]
    answers, _, _ = run(asyncdbg, commands)
    expect("signals", [("signal", "SIGSEGV")] * 2 + [("killed", "SIGTERM")],
           [(stop["reason"], stop["signal"]) for stop in stops(answers)])


def check_kept(asyncdbg, steps):
    """A program that is kept runs on with its own code when asyncdbg has ended."""
    answers, _, _ = run(asyncdbg, ["break --on-spawn steps::walk", f"run --keep -- {steps}"])
    pid = stops(answers)[0]["pid"]
    expect("its tracer", 0, tracer_of(pid))
    os.kill(pid, signal.SIGKILL)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, programs = sys.argv[1], pathlib.Path(sys.argv[2])
    steps = programs / "steps"
    ids = check_spawns(asyncdbg, steps)
    check_spawns_of_blocks(asyncdbg, programs / "stepping")
    check_wakes(asyncdbg, steps, ids)
    check_polls(asyncdbg, steps, ids)
    check_ends(asyncdbg, steps, ids)
    check_drops(asyncdbg, steps, programs / "stepping", ids)
    check_boxed_drops(asyncdbg, programs / "dropped")
    check_tasks(asyncdbg, steps, ids)
    check_again(asyncdbg, steps, ids)
    check_panics(asyncdbg, programs / "panicked")
    check_caught_panics(asyncdbg, programs / "stepping")
    check_deadlocks(asyncdbg, programs)
    check_signals(asyncdbg, steps)
    check_crash(asyncdbg, programs / "panicked")
    check_kept(asyncdbg, steps)
    with tempfile.TemporaryDirectory() as work:
        check_refused(asyncdbg, steps, work)
    print("events of tasks: all as they should be")


main()
