#!/usr/bin/env python3
"""Debugs the program `steps`: breakpoints in async functions, by task and by count, and
what is left of them when asyncdbg detaches, is interrupted or ended.

usage: run_control.py ASYNCDBG STEPS
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from harness.checks import expect
from harness.session import LIMIT, attach_session, run_commands, stops
from harness.steps import FIRST, SECOND, WALKERS, Steps, line_of, tracer_of, truth_of


def run(asyncdbg, commands, orders="", **options):
    """The answers of commands, one a line, what the program said of itself, and the process."""
    answers, done = run_commands(asyncdbg, commands, orders, **options)
    return answers, truth_of(done), done


def check_started(asyncdbg, steps):
    """Breakpoints of a program that is started; returns the ids of its walkers."""
    commands = ["break walk", f"run -- {steps}", *["continue"] * (WALKERS - 1), "info breakpoints",
                "info breakpoints --internal", "bt",
                "delete 1", f"break main.rs:{SECOND}", *["continue"] * 3]
    answers, truth, done = run(asyncdbg, commands, "walk 0\nwalk 3\nwalk 3\n")
    expect("errors", 0, done.returncode)
    all_stops = stops(answers)
    walks, rest = all_stops[:WALKERS], all_stops[WALKERS:]
    ids = [str(number) for number in truth["walkers"]]
    expect("tasks at `walk`", sorted(ids), sorted(stop["task"] for stop in walks))
    for stop in walks:
        expect("reason", "breakpoint", stop["reason"])
        expect("file", True, stop["file"].endswith("src/main.rs"))
    breakpoints = next(a for a in answers if a["command"] == "info breakpoints")["breakpoints"]
    expect("hits of `walk`", WALKERS, breakpoints[0]["hits"])
    internal = next(a for a in answers if "internal_breakpoints" in a)["internal_breakpoints"]
    expect("internal breakpoints of `walk`", [place["address"] for place in breakpoints[0]["places"]],
           [row["address"] for row in internal if row["kind"] == "breakpoint"])
    stack = next(a for a in answers if a["command"] == "bt")["threads"][0]
    if not any("steps::walk" in str(frame["function"]) for frame in stack["frames"]):
        sys.exit(f"bt has no steps::walk: {stack['frames']}")
    expect(f"tasks at line {SECOND}", [ids[0], ids[3]], [stop["task"] for stop in rest[:2]])
    expect("lines", [SECOND] * 2, [stop["line"] for stop in rest[:2]])
    expect("its end", ("exited", 0), (rest[2]["reason"], rest[2]["status"]))
    if "attached to process" not in done.stderr or "randomization is disabled" not in done.stderr:
        sys.exit(f"messages: {done.stderr}")
    return ids


def check_conditions(asyncdbg, steps, ids):
    orders = "".join(f"walk {n}\n" for n in (0, 1, 2, 3, 4))
    place = f"src/main.rs:{SECOND}"
    commands = [f"break {place} --task {ids[3]}", f"run -- {steps}", "info breakpoints", "continue"]
    answers, _, _ = run(asyncdbg, commands, orders)
    expect("stops of one task", [(ids[3], "breakpoint"), (None, "exited")],
           [(stop["task"], stop["reason"]) for stop in stops(answers)])
    commands = [f"tbreak {place} --after 3", f"run -- {steps}", "info breakpoints", "continue"]
    answers, _, _ = run(asyncdbg, commands, orders)
    expect("stops after three", [(ids[3], "breakpoint"), (None, "exited")],
           [(stop["task"], stop["reason"]) for stop in stops(answers)])
    expect("a breakpoint for once", [], answers[2]["breakpoints"])
    commands = [f"break {place}", "disable 1", f"run -- {steps}", "run", "kill"]
    answers, _, _ = run(asyncdbg, [*commands[:3], "enable 1", "run --stop", "kill"], orders)
    expect("disabled, and started again", ["exited", "started", "killed"],
           [stop["reason"] for stop in stops(answers)])


def check_expressions(asyncdbg, steps, ids):
    """Conditions over tasks, variables and counts, and one that cannot be read."""
    orders = "".join(f"walk {n}\n" for n in (0, 1, 2, 3, 4))
    place = f"main.rs:{SECOND}"
    of_two = f'task.name == "steps::walk" && (task.id == {ids[1]} || task.id == {ids[3]})'
    commands = [f"break {place} if {of_two}", f"run -- {steps}", f"condition 1 task.id == {ids[4]}", "continue",
                "condition 1", "continue"]
    answers, _, _ = run(asyncdbg, commands, orders)
    expect("tasks of a condition", [(ids[1], "breakpoint"), (ids[4], "breakpoint"), (None, "exited")],
           [(stop["task"], stop["reason"]) for stop in stops(answers)])
    expect("conditions", [of_two, f"task.id == {ids[4]}", None],
           [a["breakpoints"][0]["condition"] for a in answers if "breakpoints" in a])
    commands = [f"break {place} --after 1 --every 2 if task.type != 'x'", f"run -- {steps}", "continue",
                "info breakpoints", "continue"]
    answers, _, _ = run(asyncdbg, commands, orders)
    expect("each second", [ids[2], ids[4], None], [stop["task"] for stop in stops(answers)])
    expect("its counts", (5, 1, 2), tuple(answers[3]["breakpoints"][0][key] for key in ("hits", "after", "every")))
    commands = [f"break {place} if absent.part == 1", f"run -- {steps}", f"tbreak main.rs:{FIRST}", "continue",
                "info breakpoints", "condition 1 1 ==", "kill"]
    answers, _, done = run(asyncdbg, commands, orders + "walk 0\n")
    stop, later = stops(answers)[:2]
    expect("unreadable", (ids[0], True), (stop["task"], "no variable `absent`" in stop["problem"]))
    expect("it stops once", ("breakpoint", 2, None), (later["reason"], later["breakpoint"], later["problem"]))
    last = next(a["breakpoints"][0] for a in answers if a["command"] == "info breakpoints")
    expect("unreadable hits", (5, 1), (last["unreadable"], last["hits"]))
    if "ends too early" not in done.stderr:
        sys.exit(f"no word about a bad condition: {done.stderr}")


def check_scalar(asyncdbg, program):
    """A number that the tracer compares by itself, where an optimised build has it."""
    orders = "".join(f"walk {n}\n" for n in range(WALKERS))
    for text, steps in (("steps == 3", 3), ("steps > 4", 5), ("2 >= steps && steps != 1", 0), ("steps < 1", 0)):
        answers, _, done = run(asyncdbg, [f"tbreak rest if {text}", f"run -- {program}", "continue"], orders)
        if stops(answers)[0]["problem"]:
            return
        expect(text, ["breakpoint", "exited"], [stop["reason"] for stop in stops(answers)])
        # It answers an order when the step is done.
        before = done.stdout.count("\ndone", 0, done.stdout.index('"reason":"breakpoint"'))
        expect(f"orders before {text}", max(steps - 1, 0), before)


def shown(value):
    """A logged value as the text has it: of optimised code it may be marked as one in doubt."""
    if value["problem"]:
        return f"{{{value['path']}: {value['problem']}}}"
    return value["value"] + (f" ({value['doubt']})" if "doubt" in value else "")


def check_logpoints(asyncdbg, steps, ids):
    """Lines of logpoints; the program is never stopped for the user."""
    orders = "".join(f"walk {n}\n" for n in (0, 1, 2, 3, 4, 0, 1))
    place = f"main.rs:{SECOND}"
    commands = [f"logpoint {place} 'got {{first}} of {{absent.x}} in {{task.id}} ({{task.name}}), {{{{}}}}'",
                f"logpoint {place} --task {ids[3]} 'this one'", f"logpoint {place} --every 2 'each second'",
                f"logpoint {place} 'false' if task.id == 0", f"logpoint {place} 'none' if absent == 1",
                f"logpoint {place} 'disabled'", "disable 6", f"run -- {steps}", "info breakpoints", "delete 1"]
    answers, _, done = run(asyncdbg, commands, orders)
    expect("stops", ["exited"], [stop["reason"] for stop in stops(answers)])
    lines = [a["logged"] for a in answers if "logged" in a]
    expect("commands of lines", {"logpoint"}, {a["command"] for a in answers if "logged" in a})
    first = [line for line in lines if line["number"] == 1]
    has_first = first[0]["values"][0]["problem"] is None  # optimised code has forgotten it
    expect("tasks of lines", ids, [line["task"] for line in first])
    for line in first:
        expect("a line", "got {} of {} in {} ({}), {{}}".format(*map(shown, line["values"])), line["text"])
        expect("paths", ["first", "absent.x", "task.id", "task.name"], [value["path"] for value in line["values"]])
        expect("values", [None, line["task"], "steps::walk"], [value["value"] for value in line["values"][1:]])
        expect("a value", "Some(())" if has_first else None, line["values"][0]["value"])
        if "no variable `absent` here" not in line["values"][1]["problem"]:
            sys.exit(f"a path that leads nowhere: {line}")
    expect("other lines", [("each second", 3), ("each second", 3), ("this one", 2)],
           sorted((line["text"], line["number"]) for line in lines if line["number"] != 1))
    rows = next(a["breakpoints"] for a in answers if a["command"] == "info breakpoints")
    expect("hits", [5, 1, 5, 0, 1, 0], [row["hits"] for row in rows])
    expect("texts", ["this one", "each second"], [row["log"] for row in rows[1:3]])
    expect("unreadable", (5, True), (rows[4]["unreadable"], "no variable `absent`" in rows[4]["problem"]))
    expect("warnings", 1, done.stderr.count("logpoint 5: its condition cannot be read"))
    expect("numbers that are left", [2, 3, 4, 5, 6], [row["number"] for row in answers[-1]["breakpoints"]])


def warned(asyncdbg, steps, place):
    """The warning about a breakpoint that is passed again and again; the program ends after it."""
    with tempfile.NamedTemporaryFile("w", suffix=".x") as script:
        script.write(f"break {place}\nrun -- {steps}\n")
        script.flush()
        session = subprocess.Popen([asyncdbg, "-x", script.name], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = []

        def listen():
            for line in session.stderr:
                lines.extend([line] if "a second" in line else [])

        listener = threading.Thread(target=listen)
        listener.start()
        session.stdin.write("walk 1\n")
        session.stdin.flush()
        orders = 20000
        for line in session.stdout:
            if line.startswith("done") and not lines and orders:
                session.stdin.write("walk 1\n")
                session.stdin.flush()
                orders -= 1
            elif line.startswith("done"):
                session.stdin.close()
        listener.join()
        expect(f"break {place}: its end", 0, session.wait(LIMIT))
    expect(f"break {place}: warnings", 1, len(lines))
    return lines[0]


def check_rates(asyncdbg, steps, ids):
    """A breakpoint that costs too much is reported once, with what costs less."""
    for options, condition, advice in (("", "message.vec.len == 0", '"watch message.vec.len"'),
                                       (f" --task {ids[1]}", "true", f'"task {ids[1]}"')):
        # The type of a task is found by a look at the tasks.
        place = f'main.rs:{SECOND}{options} if task.type == "none" && {condition}'
        line = warned(asyncdbg, steps, place)
        if not re.match(r"asyncdbg: breakpoint 1 is passed [0-9]+ times a second", line) or advice not in line:
            raise SystemExit(f"break {place}: {line}")


def check_places(asyncdbg, steps):
    """Places that are none, and a line without code."""
    comment = line_of("/// Until so many steps")
    commands = [f"run --stop -- {steps}", "break steps::mian", "break absent.rs:1", "break main.rs:99999",
                f"break main.rs:{comment}", "break 0x10", "stepi 3", "kill"]
    answers, _, _ = run(asyncdbg, commands)
    breaks = [a["breakpoints"][0] for a in answers if a["command"] == "break"]
    for found, note in zip(breaks, ("no function.*mean steps::main\\?", "no file", "no file", "has no code", "no code")):
        if not re.search(note, found["note"] or ""):
            sys.exit(f"{found['place']}: {found['note']!r} has no {note!r}")
    expect("places", [False, False, False, True, False], [bool(found["places"]) for found in breaks])
    # Its first line, or where the function was inlined, the next.
    expect("line behind a comment", True, breaks[3]["places"][0]["line"] in (comment + 1, comment + 2))
    expect("stops", ["started", "stepped", "killed"], [stop["reason"] for stop in stops(answers)])
    _, _, done = run(asyncdbg, ["break steps::mian", f"run --stop -- {steps}", "kill"])
    if not re.search(r"^asyncdbg: breakpoint 1, steps::mian: no function.*steps::main\?$", done.stderr, re.M):
        sys.exit(f"no word about a breakpoint without a place: {done.stderr}")


def check_stands_still(asyncdbg, steps):
    """Commands that watch a process in the course of time see nothing of one that is halted."""
    for command in ("trace", "stalls", "top", "profile", "metrics", "diff --interval 10ms", "check --every 10ms"):
        with tempfile.NamedTemporaryFile("w", suffix=".x") as script:
            script.write(f"run --stop -- {steps}\n{command}\n")
            script.flush()
            done = subprocess.run([asyncdbg, "-x", script.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        if done.returncode != 2 or "is being debugged and is stopped" not in done.stderr:
            sys.exit(f"{command} of a halted program: {done.returncode}, {done.stdout}{done.stderr}")
    # A poll that is held up by us is no long one.
    answers, _, _ = run(asyncdbg, ["break walk", f"run -- {steps}", "check", "kill"])
    result = next(a for a in answers if a["command"] == "check")
    expect("findings", [], [finding for finding in result["findings"] if finding["check"] == "long-poll"])
    if "long-poll: the process is stopped" not in result["skipped"][0]:
        sys.exit(f"check of a halted program: {result['skipped']}")


def check_refused(asyncdbg, pid, other):
    """The error names who has it, who keeps it."""
    tracer = tracer_of(pid)
    name = pathlib.Path(f"/proc/{other.pid}/comm").read_text().strip()
    text = f"process {pid} is already traced by process {other.pid} ({name})"
    for words in (["-p", str(pid), "threads"], ["attach", str(pid)]):
        done = subprocess.run([asyncdbg, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        expect(f"beside {name}, {words}", (2, "", True), (done.returncode, done.stdout, text in done.stderr))
    expect("tracer", tracer, tracer_of(pid))


def check_traced(asyncdbg, steps):
    """A process that another debugger has is left to it, with all that this one does."""
    program = Steps(steps)
    for words in (["strace", "-qq", "-o", "/dev/null", "-f", "-p"], ["gdb", "-nx", "-q", "-p"]):
        if not shutil.which(words[0]):
            continue
        other = subprocess.Popen([*words, str(program.pid)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        while not tracer_of(program.pid):
            expect(f"{words[0]} ends", None, other.poll())
            os.sched_yield()
        check_refused(asyncdbg, program.pid, other)
        if words[0] == "strace":
            other.terminate()
        other.communicate(b"detach\nquit\n", LIMIT)
    program.check_free("traced by others")


def check_attached(asyncdbg, steps):
    program = Steps(steps)
    session = attach_session(asyncdbg, program.pid)
    expect("attach", "attached", session.ask("attach")["stopped"]["reason"])
    check_refused(asyncdbg, program.pid, session.process)
    session.ask(f"break main.rs:{SECOND}")
    expect("bytes in the code", False, program.read_code() == program.code)
    program.order("walk 1")
    stop = session.ask("continue")["stopped"]
    expect("stop", (SECOND, program.ids[1]), (stop["line"], stop["task"]))
    session.send("continue")
    program.wait_running()
    session.process.send_signal(signal.SIGINT)
    expect("^C", "interrupted", session.answer()["stopped"]["reason"])
    session.send("detach")
    session.process.stdin.close()
    expect("asyncdbg", 0, session.process.wait(LIMIT))
    program.check_free("detach")


def check_ends(asyncdbg, steps):
    """Each way to end asyncdbg but kill -9 leaves the program as it was."""
    for number in (signal.SIGTERM, signal.SIGHUP, None):
        program = Steps(steps)
        session = attach_session(asyncdbg, program.pid)
        session.ask("attach")
        session.ask(f"break main.rs:{SECOND}")
        session.ask("break walk")
        program.order("walk 1")
        expect("stop", "breakpoint", session.ask("continue")["stopped"]["reason"])
        if number:
            session.send("continue")
            session.process.send_signal(number)
        else:
            session.process.stdin.close()
        session.process.wait(LIMIT)
        program.check_free(f"signal {number}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, steps = sys.argv[1:]
    ids = check_started(asyncdbg, steps)
    check_conditions(asyncdbg, steps, ids)
    check_expressions(asyncdbg, steps, ids)
    check_scalar(asyncdbg, steps)
    check_logpoints(asyncdbg, steps, ids)
    check_rates(asyncdbg, steps, ids)
    check_places(asyncdbg, steps)
    check_stands_still(asyncdbg, steps)
    check_attached(asyncdbg, steps)
    check_traced(asyncdbg, steps)
    check_ends(asyncdbg, steps)
    print("control: all as it should be")


if __name__ == "__main__":
    main()
