#!/usr/bin/env python3
"""The commands that step, in the program `stepping`: where `step`, `finish`, `until` and `next` end, and
what else can happen meanwhile: ^C, a breakpoint of another task, the end of asyncdbg.

usage: run_step_commands.py ASYNCDBG PROGRAM [CHECK...]

Prints each check that fails, and at the end how many have not. Exit status 1 if one has.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

from harness.checks import Failure, expect, expect_in
from harness.session import LIMIT, Ended, Hung, Session

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "programs/stepping/src"
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def line_of(module, text, behind=None):
    """The number of the first line of a module with a text, after one with another text."""
    lines = (SOURCES / f"{module}.rs").read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if behind in line) if behind else 0
    return next(n for n, line in enumerate(lines, 1) if n > begin and text in line)


def place(stop):
    return (pathlib.PurePath(stop["file"] or "").name, stop["line"])


def begin(asyncdbg, program, scenario, where):
    """A session that has come to a place, and its stop there."""
    session = Session(asyncdbg)
    session.ask(f"tbreak {where}")
    stop = session.ask(f"run -- {program} {scenario}")["stopped"]
    expect("first stop", "breakpoint", stop["reason"])
    return session, stop


def end(session):
    """The program ends by itself and says so."""
    expect("its end", "exited", session.ask("continue")["stopped"]["reason"])
    session.end()
    session.close()


def is_optimised(program):
    return "release" in pathlib.Path(program).parts


def own(module, text, behind):
    return (f"{module}.rs", line_of(module, text, behind))


@check
def into_ready(asyncdbg, program):
    """`step` into a coroutine that does not suspend, `finish` back with its value."""
    session, stop = begin(asyncdbg, program, "enters", "stepping::awaits::enters")
    task = stop["task"]
    stop = session.ask("step")["stopped"]
    expect("step", own("work", "}", "async fn value"), place(stop))
    expect("reason", ("step", task), (stop["reason"], stop["task"]))
    stop = session.ask("finish")["stopped"]
    behind = own("awaits", "yields(me, 2).await", "async fn enters")
    expect("reason", ("returned", task), (stop["reason"], stop["task"]))
    # What is inlined has returned where the code around it goes on, which may be the next line.
    if not is_optimised(program) or place(stop) != behind:
        expect("finish", own("awaits", "value(me, 1).await", "async fn enters"), place(stop))
        stop = session.ask("next")["stopped"]
    expect("next", behind, place(stop))
    end(session)


@check
def into_suspended(asyncdbg, program):
    """The same with one that suspends."""
    line = line_of("awaits", "yields(me, 2).await", "async fn enters")
    session, stop = begin(asyncdbg, program, "enters", f"awaits.rs:{line}")
    task = stop["task"]
    stop = session.ask("step")["stopped"]
    expect("step", own("work", "for _ in 0..times", "async fn yields"), place(stop))
    loop = line_of("work", "for _ in 0..times", "async fn yields")
    wanted = [loop + 1, loop, loop + 1]
    # Optimised code has no row of the loop's head where a round ends: a step stays in the round's only line.
    wanted = wanted[:1] if is_optimised(program) else wanted
    expect("next", wanted, [place(session.ask("next")["stopped"])[1] for _ in wanted])
    stop = session.ask("finish")["stopped"]
    expect("finish", ("returned", task), (stop["reason"], stop["task"]))
    if not is_optimised(program): # the value may be taken by the next line
        expect("finish", ("awaits.rs", line), place(stop))
    end(session)


@check
def into_boxed(asyncdbg, program):
    """`step` into a coroutine behind a vtable; the line of the await makes no future."""
    session, stop = begin(asyncdbg, program, "boxed", "stepping::values::boxed")
    task = stop["task"]
    if is_optimised(program): # all that the line does may have been merged with its neighbours
        end(session)
        return
    stop = session.ask("next")["stopped"]
    awaits = own("values", "let a = child.await", "async fn boxed")
    expect("next", awaits, place(stop))
    stop = session.ask("step")["stopped"]
    expect("step", own("work", "for _ in 0..times", "async fn yields"), place(stop))
    stop = session.ask("finish")["stopped"]
    expect("finish", (awaits, "returned", task), (place(stop), stop["reason"], stop["task"]))
    expect("next", own("values", "me.add(a, 0)", "async fn boxed"), place(session.ask("next")["stopped"]))
    end(session)


@check
def into_closures(asyncdbg, program):
    """`step` into a closure, called by the function itself and by a library."""
    if is_optimised(program):  # no line of the calls is left
        return
    session, _ = begin(asyncdbg, program, "applies", "stepping::values::applies")
    inside = own("values", "let more = ", "async fn applies")
    for call in ("let a = add(2)", "Some(a).map(add)"):
        session.ask(f"tbreak values.rs:{line_of('values', call, 'async fn applies')}")
        expect("its call", "breakpoint", session.ask("continue")["stopped"]["reason"])
        stop = session.ask("step")["stopped"]
        expect(f"step at {call}", (inside, "step"), (place(stop), stop["reason"]))
        stop = session.ask("finish")["stopped"]
        expect("finish", (own("values", call, "async fn applies"), "returned"), (place(stop), stop["reason"]))
    end(session)


@check
def changed_variables(asyncdbg, program):
    """`next` shows which variables of the function have changed; not what the stack has lost at an await."""
    if is_optimised(program):  # most are in no place
        return
    session, _ = begin(asyncdbg, program, "rounds", "stepping::awaits::rounds")
    seen = []
    for _ in range(5):
        stop = session.ask("next")["stopped"]
        seen.append([(c["variable"]["name"], c["variable"]["value"], c["before"]) for c in stop["changed"]
                     if c["variable"]["name"] != "iter"])
    expect("changed", [[("sum", "0", None)], [("round", "2", None)], [("sum", "2", "0")], [("sum", "3", "2")],
                       [("round", "1", None)]], seen)
    expect("another stop", [], session.ask("nexti")["stopped"]["changed"])
    end(session)
    session, _ = begin(asyncdbg, program, "rounds", "stepping::awaits::rounds")
    stop = session.ask("next 2")["stopped"]
    expect("two lines", "sum", stop["changed"][0]["variable"]["name"])
    expect("with a suspension among them", [], session.ask("next 2")["stopped"]["changed"])
    kill(session)


@check
def finish_root(asyncdbg, program):
    """`finish` in the root of a task ends when the task does."""
    session, stop = begin(asyncdbg, program, "timer", "stepping::awaits::timer")
    task = stop["task"]
    stop = session.ask("finish")["stopped"]
    expect("finish", ("returned", task), (stop["reason"], stop["task"]))
    end(session)


@check
def as_all_say(asyncdbg, program):
    """What a stop says of its thread is what a look at all threads says."""
    for scenario, function in (("migrates", "awaits::migrates"), ("local", "roots::root"),
                               ("nested", "roots::root"), ("root", "roots::root"),
                               ("current", "roots::root"), ("blocking", "roots::job"),
                               ("pool", "roots::untimed")):
        session, stop = begin(asyncdbg, program, scenario, f"stepping::{function}")
        for _ in range(4):
            thread = stop["thread"]
            stopped = (thread["number"], thread["tid"], thread["name"], stop["task"])
            all_say = [(t["number"], t["tid"], t["name"], t["task"])
                       for t in session.ask("info threads")["threads"] if t["tid"] == thread["tid"]]
            expect(f"thread in {scenario}", all_say, [stopped])
            stop = session.ask("next")["stopped"]
            if stop["reason"] != "step":
                break
        session.send("kill")
        session.end()
        session.close()


# What is given in the scenario `returns`, as `finish` shows it; None: in a vector register, or more than
# two words in registers.
VALUES = [
    "()", "7", "true", "200", "-3", "1234567890123", "'x'", "Some(5)", "None", "Ok(6)", "Err(Refused)",
    "(1, 2)", "(3, 4)", "(5, 6)", "[1, 2, 3]", "[7, 7, 7, 7]", '"text"', '"words"', "[1, 2, 3]", "9",
    "Greater", 'Named { number: 8, text: "name" }', None, None
]


@check
def returned_values(asyncdbg, program):
    """`finish` shows what the coroutine is ready with, or why it does not know that."""
    if is_optimised(program): # they are inlined
        return
    session, stop = begin(asyncdbg, program, "returns", "stepping::values::returns")
    session.ask("break stepping::values::given")
    for wanted in VALUES:
        stop = session.ask("continue")["stopped"]
        expect("next value", "breakpoint", stop["reason"])
        step = session.ask("finish")["stopped"]["step"]
        expect("value", wanted, step["value"])
        expect("a reason", wanted is None, bool(step["value_problem"]))
    session.ask("disable 2")
    end(session)


@check
def returned_in_memory(asyncdbg, program):
    """What is larger than two words is known in optimised code, too; else there is a reason."""
    session, stop = begin(asyncdbg, program, "returns", "stepping::values::name")
    stop = session.ask("finish")["stopped"]
    step = stop["step"]
    expect("value", ("returned", 'Named { number: 8, text: "name" }'), (stop["reason"], step["value"]))
    session.ask("tbreak stepping::record::Me::add")
    expect("add", "breakpoint", session.ask("continue")["stopped"]["reason"])
    step = session.ask("finish")["stopped"]["step"]
    expect("value", not is_optimised(program), bool(step["value"]))
    expect("a reason", is_optimised(program), bool(step["value_problem"]))
    end(session)


def step_into_spawned(session, stop):
    """From the stop at a line that spawns a task of root()."""
    task = stop["task"]
    stop = session.ask("step --spawned")["stopped"]
    expect("step --spawned", own("roots", "yields(me.at(), 1).await", "async fn root"), place(stop))
    expect("another task", True, stop["task"] not in (None, task))
    end(session)


@check
def into_spawned(asyncdbg, program):
    """`step --spawned` goes into the task that the line spawns."""
    step_into_spawned(*begin(asyncdbg, program, "spawns", "stepping::roots::spawns"))


@check
def into_spawned_object(asyncdbg, program):
    """The same where the future is a trait object, of which the vtable tells."""
    line = line_of("roots", "let task = tokio::spawn(future)", "async fn spawns_object")
    step_into_spawned(*begin(asyncdbg, program, "spawns_object", f"roots.rs:{line}"))


@check
def end_of_task(asyncdbg, program):
    """The end of a task is not followed to the function that runs all tasks of the thread."""
    line = line_of("roots", "me.add(a + b, c)", "async fn root")
    session, stop = begin(asyncdbg, program, "current", f"roots.rs:{line}")
    task = stop["task"]
    stop = session.ask("finish")["stopped"]
    expect("its task", True, task is not None)
    expect("finish", ("returned", task), (stop["reason"], stop["task"]))
    end(session)


@check
def until_behind_loop(asyncdbg, program):
    """`until` at the end of a loop's round leaves the loop."""
    line = line_of("awaits", "sum = me.add(sum, 1)", "async fn rounds")
    session, _ = begin(asyncdbg, program, "rounds", f"awaits.rs:{line}")
    stop = session.ask("until")["stopped"]
    expect("until", ("awaits.rs", line + 2), place(stop))
    end(session)


@check
def lost_variable(asyncdbg, program):
    """A variable that lives across no await has a doubt behind one, and none before the first one."""
    if is_optimised(program): # it has no value then
        return
    line = line_of("awaits", "sum += yields", "async fn rounds")
    session, _ = begin(asyncdbg, program, "rounds", f"awaits.rs:{line}")
    before = session.ask("print round")["printed"]
    expect("before an await", ("2", False), (before["value"], before["uncertain"]))
    session.ask("next")
    after = session.ask("print round")["printed"]
    expect("behind it", (True, True), (after["uncertain"], after.get("may_be_lost")))
    kept = session.ask("print sum")["printed"]
    expect("what is kept", False, kept["uncertain"])
    end(session)


@check
def captured_part(asyncdbg, program):
    """A closure that captures a part of a variable: its path, in `print` and in a condition."""
    if is_optimised(program): # the compiler leaves no place for it
        return
    line = line_of("abrupt", "scope.spawn(move || thread_met")
    session, _ = begin(asyncdbg, program, "threads_meet", f"abrupt.rs:{line} if me.0 == 0")
    printed = session.ask("print me.0")["printed"]
    expect("the captured part", ("me.0", "0", "u32"), tuple(printed[key] for key in ("name", "value", "type")))
    session.ask("kill")
    session.end()


@check
def hoisted_lines(asyncdbg, program):
    """Constants that are set before the jump by the state: lines of the first poll alone."""
    if is_optimised(program):  # they have no code
        return
    limit, name, more = (line_of("awaits", text, "async fn hoists") for text in ("let limit", "let _name", "let more"))
    session = Session(asyncdbg)
    session.ask(f"break awaits.rs:{name}")
    session.ask("break stepping::awaits::hoists")
    stop = session.ask(f"run -- {program} hoists")["stopped"]
    # Where the code comes to them: the compiler has put both before the line between them.
    for wanted in (limit, name, limit + 1, more, more + 1):
        expect("stop", ("awaits.rs", wanted), place(stop))
        stop = session.ask("next" if wanted != limit else "continue")["stopped"]
    hits = [row["hits"] for row in session.ask("info breakpoints")["breakpoints"]]
    expect("hits", [1, 1], hits)
    end(session)


@check
def large_frame(asyncdbg, program):
    """Conditions in a function whose frame base is a distance from the CFA: inline stack probes."""
    if is_optimised(program):  # the compiler leaves no place for it
        return
    line = line_of("awaits", "me.add(a, b)", "async fn large")
    session, _ = begin(asyncdbg, program, "large", f"awaits.rs:{line - 2}")
    expect("value", "1", session.ask("print bytes[1]")["printed"]["value"])
    session.ask(f"break awaits.rs:{line} if a == 4")
    session.ask(f"break awaits.rs:{line} if a > 2 && a != 4")
    session.ask(f"break awaits.rs:{line} if absent == 3")
    stop = session.ask("continue")["stopped"]
    # All that match stop there at once; the third cannot be read, and is counted.
    expect("stop", ("breakpoint", ("awaits.rs", line)), (stop["reason"], place(stop)))
    rows = session.ask("info breakpoints")["breakpoints"]
    expect("unreadable", [(0, 0), (1, 0), (1, 1)], [(row["hits"], row["unreadable"]) for row in rows])
    # The frame is another one since the await, which has not kept the variable.
    expect("value behind the await", None, session.ask("print bytes[1]")["printed"]["value"])
    end(session)


def hit_where_made(asyncdbg, program, scenario, module, text):
    """A breakpoint where a coroutine is made is hit there, not at each of its polls."""
    line = line_of(module, text)
    session, stop = begin(asyncdbg, program, scenario, f"{module}.rs:{line}")
    expect("first stop", (f"{module}.rs", line), place(stop))
    places = session.ask(f"break {module}.rs:{line}")["breakpoints"][-1]["places"]
    expect("places", 1, len(places))
    session.ask("kill")
    session.end()


@check
def made_block(asyncdbg, program):
    """Where an async block begins."""
    if not is_optimised(program): # there what makes it is inlined, and has no line left
        hit_where_made(asyncdbg, program, "calls", "kinds", "Box::pin(async move {")


@check
def made_function(asyncdbg, program):
    """Where an async function is declared."""
    if not is_optimised(program):
        hit_where_made(asyncdbg, program, "timer", "awaits", "pub async fn timer")


@check
def one_instance(asyncdbg, program):
    """A function with generics is that instance alone, by its short name and by its whole one."""
    if is_optimised(program): # it is inlined
        return
    session, _ = begin(asyncdbg, program, "rounds", "stepping::awaits::rounds")
    all_of_them = session.ask("break spawn_among")["breakpoints"][0]["places"]
    for name in ("async fn stepping::awaits::rounds", "stepping::awaits::rounds::{async_fn_env#0}"):
        places = session.ask(f'break "stepping::spawn_among<{name}>"')["breakpoints"][0]["places"]
        expect("one place", 1, len(places))
        expect("of many", True, places[0] in all_of_them and len(all_of_them) > 1)
    end(session)


@check
def other_breakpoint(asyncdbg, program):
    """A breakpoint of another task ends the step."""
    line = line_of("crowd", "me.pass(other).await", "async fn neighbour")
    session, stop = begin(asyncdbg, program, "neighbour", f"crowd.rs:{line}")
    task = stop["task"]
    inner = line_of("together", "let d = yields", "async fn arm")
    session.ask(f"break together.rs:{inner}")
    stop = session.ask("next")["stopped"]
    expect("next", ("breakpoint", ("together.rs", inner)), (stop["reason"], place(stop)))
    expect("another task", True, stop["task"] != task)
    end(session)


@check
def own_breakpoint(asyncdbg, program):
    """So does one in what the line awaits."""
    session, stop = begin(asyncdbg, program, "enters", "stepping::awaits::enters")
    task = stop["task"]
    session.ask("tbreak stepping::work::value")
    stop = session.ask("next")["stopped"]
    where = own("work", "}", "async fn value")
    expect("next", ("breakpoint", where, task), (stop["reason"], place(stop), stop["task"]))
    end(session)


@check
def crowded_processor(asyncdbg, program):
    """Two of the processor's breakpoints are enough for a step through an await that suspends."""
    if is_optimised(program): # it is refused
        return
    session = Session(asyncdbg)
    for text in ("sleep(me.ms(2))", "me.add(a, 3)"):
        session.ask(f"break awaits.rs:{line_of('awaits', text, 'async fn timer')}")
    stop = session.ask(f"run --production -- {program} timer")["stopped"]
    expect("first stop", ("breakpoint", [1]), (stop["reason"], stop["breakpoints"]))
    stop = session.ask("next")["stopped"]
    expect("next", ("step", own("awaits", "me.add(1, 2)", "async fn timer")), (stop["reason"], place(stop)))
    session.ask("delete 2")
    end(session)


def listed(session):
    """The numbers of breakpoints, each with its hits."""
    return {b["number"]: b["hits"] for b in session.ask("info breakpoints")["breakpoints"]}


@check
def walked_breakpoints(asyncdbg, program):
    """A breakpoint to which single instructions lead is hit there; what comes after is not one."""
    if is_optimised(program): # the functions are inlined
        return
    session, _ = begin(asyncdbg, program, "rounds", "stepping::awaits::rounds")
    session.ask("break stepping::record::Me::add")
    stop = session.ask("step")["stopped"]
    expect("step into it", ("breakpoint", [2]), (stop["reason"], stop["breakpoints"]))
    session.ask("finish")
    session.ask(f"tbreak awaits.rs:{line_of('awaits', 'for round in', 'async fn rounds')}")
    stop = session.ask("step")["stopped"]
    expect("step to a line with one", ("breakpoint", [3]), (stop["reason"], stop["breakpoints"]))
    expect("hits", {2: 1}, listed(session))
    session.ask("break stepping::record::Me::rounds")
    stop = session.ask("stepi 1000")["stopped"]
    expect("stepi", ("breakpoint", [4]), (stop["reason"], stop["breakpoints"]))
    stop = session.ask("stepi")["stopped"]
    expect("stepi behind it", ("stepped", []), (stop["reason"], stop["breakpoints"]))
    expect("hits", {2: 1, 4: 1}, listed(session))
    session.send("kill")
    session.end()
    session.close()


@check
def several_at_one_place(asyncdbg, program):
    """All breakpoints of a stop are named, but for those that do not halt; with the processor's, too."""
    for option in ("", "--production "):
        session = Session(asyncdbg)
        for condition in ("", " if 1 == 2", " if 1 == 1"):
            session.ask(f"break stepping::awaits::rounds{condition}")
        stop = session.ask(f"run {option}-- {program} rounds")["stopped"]
        expect(f"run {option}", ("breakpoint", [1, 3]), (stop["reason"], stop["breakpoints"]))
        expect("hits", {1: 1, 2: 0, 3: 1}, listed(session))
        session.ask("delete 1")
        end(session)


@check
def watched_where_it_stopped(asyncdbg, program):
    """`watch` is about the frame of the stop, as `print` is, and not about the root of the task."""
    if is_optimised(program): # the number may be in a register
        return
    line = line_of("work", "yield_now().await", "async fn yields")
    session, _ = begin(asyncdbg, program, "enters", f"work.rs:{line}")
    row = session.ask("watch times")["watchpoints"][0]
    expect("a variable of an awaited function", "2", row["value"])
    session.ask("kill")
    session.end()
    session.close()


@check
def killed_at_watchpoint(asyncdbg, program):
    """What had stopped the program before it was killed is not shown again."""
    if is_optimised(program): # a register cannot be watched
        return
    line = line_of("awaits", "sum += yields", "async fn rounds")
    session, _ = begin(asyncdbg, program, "rounds", f"awaits.rs:{line}")
    session.ask("watch sum")
    session.ask("set sum = 70")
    rows = session.ask("info breakpoints")["watchpoints"]
    expect("a value that was set", [("70", 0)], [(row["value"], row["hits"]) for row in rows])
    expect("watch", "watchpoint", session.ask("continue")["stopped"]["reason"])
    stop = session.ask("kill")["stopped"]
    expect("kill", ("killed", []), (stop["reason"], stop["watchpoints"]))
    session.end()
    session.close()


@check
def into_spinning(asyncdbg, program):
    """`step` at a line that waits for another thread, where all of it is inlined: that one runs, too."""
    line = line_of("abrupt", "while TURN", "async fn spins")
    session, _ = begin(asyncdbg, program, "spins", f"abrupt.rs:{line}")
    expect("step", own("abrupt", "me.add(a, 3)", "async fn spins"), place(session.ask("step")["stopped"]))
    end(session)


@check
def exits_meanwhile(asyncdbg, program):
    """The program ends in the middle of a step, by the thread that steps or by another one."""
    for scenario, status, line in (("exits", 6, "leave(me.add(a, 3))"),
                                   ("exits_elsewhere", 6, "forever(me.at()")):
        where = line_of("abrupt", line, f"async fn {scenario}(")
        # The poll of the whole task is inlined in optimised code.
        whole = () if is_optimised(program) else ("finish --whole",)
        for command in ("next", "finish", "until", "step", "next 5", *whole):
            session, _ = begin(asyncdbg, program, scenario, f"abrupt.rs:{where}")
            stop = session.ask(command)["stopped"]
            into = command == "step" and stop["reason"] == "step"
            # What is inlined into its executor is not followed when it is suspended.
            if into or (is_optimised(program) and stop["reason"] == "left"):
                stop = session.ask("continue")["stopped"]
            expect(f"{command} in {scenario}", ("exited", status), (stop["reason"], stop["status"]))
            session.end()
            session.close()


@check
def thread_ends(asyncdbg, program):
    """The thread ends in the middle of a step: the line will never end, and the program stays."""
    places = {"thread_exits": ("exit_thread(me.add(a, 3))", "fn exiting("),
              "poll_exits": ("end_thread(me.add(a, 3))", "async fn polled("),
              "main_exits": ("end_thread(me.add(a, 3))", "async fn polled(")}
    for scenario, (text, function) in places.items():
        line = line_of("quits", text, function)
        for command in ("next", "finish", "until", "step"):
            session, first = begin(asyncdbg, program, scenario, f"quits.rs:{line}")
            stop = session.ask(command)["stopped"]
            for _ in range(30): # through what the line calls, to where the thread ends
                if command == "step" and stop["reason"] in ("step", "returned"):
                    stop = session.ask("step")["stopped"]
            check_ended(f"{command} in {scenario}", stop, f"thread {first['thread']['tid']} has ended in the middle")
            kill(session)


@check
def thread_ends_elsewhere(asyncdbg, program):
    """A coroutine is suspended on the stack of a thread that has ended: nobody can resume it."""
    line = line_of("together", "forever(me.at(), suspended)", "async fn loser(")
    session, first = begin(asyncdbg, program, "suspended_exits", f"together.rs:{line}")
    check_ended("next", session.ask("next")["stopped"], f"thread {first['thread']['tid']} has ended")
    kill(session)


def check_ended(what, stop, note):
    expect(what, ("thread-ended", "thread-ended"), (stop["reason"], stop["step"] and stop["step"]["end"]))
    if note not in stop["step"]["note"]:
        raise Failure(f"{what}: {stop['step']['note']}")


def kill(session):
    stop = session.ask("kill")["stopped"]
    expect("kill", ("killed", None), (stop["reason"], stop["step"]))
    session.end()
    session.close()


class Waiting:
    """The debuggee in the scenario `waits`, at its first line; its stdin is ours."""

    def __init__(self, asyncdbg, program):
        self.program = subprocess.Popen([program, "waits", "--wait"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        expect("ready", "ready\n", self.program.stdout.readline())
        self.code = self.read_code()
        self.timer = threading.Timer(LIMIT, self.program.kill)
        self.timer.start()
        self.session = Session(asyncdbg, "-p", str(self.program.pid))
        expect("attach", "attached", self.session.ask("attach")["stopped"]["reason"])
        self.session.ask("tbreak stepping::awaits::waits")
        self.order()
        expect("first stop", "breakpoint", self.session.ask("continue")["stopped"]["reason"])

    def order(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()

    def read_code(self):
        maps = pathlib.Path(f"/proc/{self.program.pid}/maps").read_text()
        start, stop = next(m.groups() for m in re.finditer(r"^(\w+)-(\w+) r-xp .*/stepping$", maps, re.M))
        with open(f"/proc/{self.program.pid}/mem", "rb") as memory:
            memory.seek(int(start, 16))
            return memory.read(int(stop, 16) - int(start, 16))

    def wait_running(self):
        """Until it runs: the step is in progress. One that has ended leaves it halted for ever."""
        while pathlib.Path(f"/proc/{self.program.pid}/stat").read_text().rpartition(")")[2].split()[0] == "t":
            if self.session.hung:
                raise Failure("the program does not run, or the step ended at once")
            os.sched_yield()

    def check_free(self):
        """Nobody traces it, its code is as before, and it goes on to its end."""
        status = pathlib.Path(f"/proc/{self.program.pid}/status").read_text()
        expect("tracer", "0", re.search(r"^TracerPid:\s*(\d+)", status, re.M).group(1))
        expect("its code", True, self.read_code() == self.code)
        self.order()
        self.order()
        line = self.program.stdout.readline()
        expect("that it says its lines", True, line.startswith("{"))
        truth = json.loads(line)
        first = line_of("awaits", "answer(me.at()).await", "async fn waits")
        expect("its lines", list(range(first, first + 3)), truth["lines"]["0"])
        expect("its end", 0, self.program.wait(LIMIT))

    def close(self):
        self.timer.cancel()
        self.session.close()
        self.program.kill()
        self.program.wait()


@check
def interrupted(asyncdbg, program):
    """^C ends a step, which says what it waited for; then the program is let go."""
    line = line_of("awaits", "answer(me.at()).await", "async fn waits")
    notes = {"next": f"at line {line}"}  # suspended there, or about to be
    if not is_optimised(program):  # see exits_meanwhile()
        notes["finish --whole"] = "the task has not finished"
    for command, note in notes.items():
        waiting = Waiting(asyncdbg, program)
        try:
            waiting.session.send(command)
            waiting.wait_running()
            waiting.session.process.send_signal(signal.SIGINT)
            stop = waiting.session.answer()["stopped"]
            expect("^C", ("interrupted", "broken"), (stop["reason"], stop["step"]["end"]))
            if not re.search(rf"{note}( when the step began)?$", stop["step"]["note"]):
                raise Failure(f"{command}: {stop['step']['note']}")
            waiting.session.send("detach")
            waiting.session.end()
            waiting.check_free()
        finally:
            waiting.close()


@check
def interrupted_later(asyncdbg, program):
    """^C ends a step that began at another await than the one where the function is suspended now."""
    line = line_of("awaits", "answer(me.at()).await", "async fn waits") + 1
    waiting = Waiting(asyncdbg, program)
    try:
        waiting.session.ask(f"logpoint awaits.rs:{line} 'second'")
        waiting.session.send("finish")
        waiting.wait_running()
        waiting.order()
        expect("logpoint", "second", waiting.session.answer()["logged"]["text"])
        waiting.session.process.send_signal(signal.SIGINT)
        stop = waiting.session.answer()["stopped"]
        expect("^C", ("interrupted", "broken"), (stop["reason"], stop["step"]["end"]))
        # Suspended there, or about to be; optimised code inlines it into what polls it.
        if not is_optimised(program) and not stop["step"]["note"].endswith(f"at line {line}"):
            raise Failure(stop["step"]["note"])
        waiting.session.send("kill")
        waiting.session.end()
    finally:
        waiting.close()


@check
def waits_in_kernel(asyncdbg, program):
    """A step from a system call says what it waits for: it may not return for ever."""
    process = subprocess.Popen([program, "waits", "--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    session = None
    try:
        expect("ready", "ready\n", process.stdout.readline())
        session = Session(asyncdbg, "-p", str(process.pid))
        expect("attach", "attached", session.ask("attach")["stopped"]["reason"])
        session.send("next")
        while not any("waiting for a return to stepping::main at" in line for line in session.messages):
            if session.hung:
                raise Failure("it does not say what it waits for")
            os.sched_yield()
        session.process.send_signal(signal.SIGINT)
        note = session.answer()["stopped"]["step"]["note"]
        if not re.fullmatch(r"next cancelled: it was waiting for the return to stepping::main at \S+main.rs:\d+", note):
            raise Failure(note)
        session.send("kill")
        session.end()
    finally:
        if session:
            session.close()
        process.kill()
        process.communicate()


@check
def ended(asyncdbg, program):
    """asyncdbg ends in the middle of a step: nothing of it is left."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        waiting = Waiting(asyncdbg, program)
        try:
            waiting.session.send("next")
            waiting.wait_running()
            waiting.session.process.send_signal(number)
            waiting.session.process.wait(LIMIT)
            waiting.check_free()
        finally:
            waiting.close()


@check
def ends_outside(asyncdbg, program):
    """A step over an await that ends by what comes from outside."""
    waiting = Waiting(asyncdbg, program)
    try:
        waiting.session.send("next")
        waiting.wait_running()
        waiting.order()
        stop = waiting.session.answer()["stopped"]
        line = line_of("awaits", "let b = answer", "async fn waits")
        expect("next", ("step", ("awaits.rs", line)), (stop["reason"], place(stop)))
        waiting.session.send("detach")
        waiting.session.end()
        waiting.order()
        expect("its end", 0, waiting.program.wait(LIMIT))
    finally:
        waiting.close()


def run_to_end_of_watch(session):
    """Continues while the value changes; why it watches nothing any more, and how often it had changed."""
    for changes in range(20):
        stop = session.ask("continue")["stopped"]
        expect("reason", "watchpoint", stop["reason"])
        if stop["watchpoint"]["ended"]:
            return stop["watchpoint"]["ended"].split(": ")[-1], changes
    raise Failure("the watchpoint does not end")


def watch_suspended(asyncdbg, program):
    """A session of `aborted` before the abort of task 6, whose state is watched; once more if it is still running."""
    for _ in range(20):
        session, _ = begin(asyncdbg, program, "aborted", f"ends.rs:{line_of('ends', 'aborts.abort()')}")
        try:
            session.ask("task 6")
            session.ask("watch --state")
            return session
        except Ended as ended:
            session.close()
            expect_in("task 6", "at a stop at which its task is suspended", str(ended))
    raise Failure("task 6 is never suspended")


@check
def ended_watches(asyncdbg, program):
    """A variable of a coroutine is watched up to the end of its scope, and what comes into its bytes later is not."""
    dropped = "its future was dropped"
    session = watch_suspended(asyncdbg, program)
    session.ask("watch a")
    why, _ = run_to_end_of_watch(session)
    # The code that drops it may be inlined into what holds it: then its bytes show that it is gone.
    ends = {dropped, "its future is gone"} if is_optimised(program) else {dropped}
    expect("end", True, why in ends)
    listed = session.ask("info breakpoints")["watchpoints"]
    expect("enabled", [False], [w["enabled"] for w in listed if w["expression"] == "a"])
    session.ask("delete 2")
    end(session)
    if is_optimised(program): # it is in a register there
        return
    session, _ = begin(asyncdbg, program, "timer", f"awaits.rs:{line_of('awaits', 'sleep(me.ms(3))', 'async fn timer')}")
    session.ask("watch a")
    expect("returned", ("its function has returned", 0), run_to_end_of_watch(session))
    end(session)
    session, _ = begin(asyncdbg, program, "rounds", f"awaits.rs:{line_of('awaits', 'sum += yields', 'async fn rounds')}")
    session.ask("watch sum")
    # 0, 0 + 1, 1 + 1 and + 1, 3 + 2 and + 1: a write of the same value is none.
    expect("changed", ("its function has returned", 5), run_to_end_of_watch(session))
    end(session)


@check
def needed_breakpoints(asyncdbg, program):
    """How many of the processor's breakpoints a step needs, and how many are free."""
    session = Session(asyncdbg)
    for text in ("sleep(me.ms(2))", "me.add(a, 3)", "sleep(me.ms(1))"):
        session.ask(f"break awaits.rs:{line_of('awaits', text, 'async fn timer')}")
    session.ask(f"run --production -- {program} timer")
    try:
        session.ask("next")
    except Ended as ended:
        expect_in("refused", "of the 4 hardware breakpoints", str(ended))
        expect_in("refused", ", and 1 is free", str(ended))
        return
    finally:
        session.close()
    raise Failure("there are enough breakpoints")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncdbg, program, *names = sys.argv[1:]
    checks = [function for function in CHECKS if function.__name__ in names or not names]
    failed = 0
    for function in checks:
        try:
            function(asyncdbg, program)
        except (Failure, Ended, Hung, KeyError, subprocess.TimeoutExpired) as wrong:
            failed += 1
            print(f"{function.__name__}: {type(wrong).__name__}: {wrong}", flush=True)
    print(f"{len(checks) - failed} of {len(checks)} checks are as they should be")
    sys.exit(failed > 0)


main()
