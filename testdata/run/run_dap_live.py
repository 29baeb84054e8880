#!/usr/bin/env python3
"""A client of `asyncdbg dap` that launches the program `steps`, attaches to it, sets breakpoints and
goes away in the middle.

usage: run_dap_live.py ASYNCDBG STEPS
"""
import functools
import os
import pathlib
import signal
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
from harness.checks import Failure, expect, expect_in
from harness.dap import Client
from harness.steps import SECOND, SOURCE, WALKERS, Steps, line_of

FIRST = line_of("let first = orders.recv().await")
DEBUG = "debug" in pathlib.Path(sys.argv[2]).parts
SECRET = "a value that nobody else may see"
LOST = "optimised out"
# The programs are built with their folder remapped.
SOURCES = {"/src": str(TESTDATA / "programs")}


def serve(asyncdbg):
    return Client([asyncdbg, "dap"])


def go_on(client):
    client.request("continue", threadId=1)


@functools.lru_cache
def gdb_scope(program, address):
    """What gdb says of the variables at an address of the file."""
    return subprocess.run(["gdb", "-q", "-nx", "-batch", "-ex", f"info scope *{address:#x}", program],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=True).stdout.splitlines()


def address_in_file(pid, pc):
    program = os.readlink(f"/proc/{pid}/exe")
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return program, pc - min(int(m.split("-")[0], 16) for m in maps if m.endswith(program))


def check_lost(client, pid, top, shown):
    """A variable without a place: gdb must know none either."""
    place = address_in_file(pid, int(top["instructionPointerReference"], 16))
    said = [line for line in gdb_scope(*place) if line.startswith("Symbol message ")]
    if DEBUG or not said or any("is optimized out" not in line for line in said):
        raise Failure(f"a variable is {shown}, and gdb says {said}")
    expect_in("an expression", LOST, client.refuse(
        "evaluate", expression="message", frameId=top["id"], context="hover"))


def check_variables(client, pid, top):
    value = client.locals(top)["message"]["value"]
    if LOST in value:
        check_lost(client, pid, top, value)
        return
    expect_in("a variable", SECRET, value)
    shown = client.request("evaluate", expression="message", frameId=top["id"], context="hover")
    expect_in("an expression", SECRET, shown["result"])


def check_stop(client, pid, stop, line):
    """Where a walker stands at a breakpoint, and what is seen there."""
    names = {t["id"]: t["name"] for t in client.threads()}
    expect_in("the thread of a stop", "steps::walk on worker", names[stop["threadId"]])
    top = client.stack(stop["threadId"])[0]
    expect("the innermost frame", ("steps::walk", line, str(SOURCE)),
           (top["name"], top["line"], top["source"]["path"]))
    if "message" in client.locals(top) or DEBUG:  # optimised code may not have it at a line
        check_variables(client, pid, top)
    if not any(r["name"].startswith("await stack of task") for r in client.stack(stop["threadId"])):
        raise Failure("the stack has no await stack")


def check_launch(asyncdbg, steps):
    client = serve(asyncdbg)
    found = client.start("launch", program=steps, sourceMap=SOURCES, env={"EXTRA": "1", "LC_ALL": None},
                         breakpoints={str(SOURCE): [FIRST]}, functions=["steps::walk"])
    expect("breakpoints", [True, True], [b[0]["verified"] for b in found])
    expect("a line", FIRST, found[0][0]["line"])
    begin = found[1][0]["line"]
    pid = client.event("process", startMethod="launch")["systemProcessId"]
    begins, stops = 0, 0
    for _ in range(2 * WALKERS):
        stop = client.event("stopped", allThreadsStopped=True)
        line = FIRST if stop["hitBreakpointIds"] == [found[0][0]["id"]] else begin
        expect("reason", "breakpoint" if line == FIRST else "function breakpoint", stop["reason"])
        check_stop(client, pid, stop, line)
        begins += line != FIRST
        stops += line == FIRST
        go_on(client)
    expect("hits", (WALKERS, WALKERS), (begins, stops))
    expect("exit code", 0, client.event("exited")["exitCode"])
    client.event("terminated")
    expect_in("what it printed", "ready\n", client.output("stdout"))
    expect_in("the console", "attached to process", client.output("console"))
    expect_in("after its end", "ended", client.refuse("threads"))
    client.end()


def check_places(client):
    """Lines on which a breakpoint can be, and the places that a task tells."""
    def lines(first, last=None, path=str(SOURCE)):
        end = {"endLine": last} if last else {}
        found = client.request("breakpointLocations", source={"path": path}, line=first, **end)["breakpoints"]
        return [place["line"] for place in found]

    expect("a line", [FIRST], lines(FIRST))
    expect("lines without code", [], lines(1, 5))
    expect("no such line", [], lines(100000))
    expect("no such file", [], lines(1, 100, "/src/no/such.rs"))
    found = lines(FIRST - 3, SECOND)
    expect("ascending", sorted(set(found)), found)
    expect("both awaits", True, {FIRST, SECOND} <= set(found))
    expect("from a place to one before it", [], lines(FIRST, FIRST - 1))
    for wrong in ({}, {"source": {"path": str(SOURCE)}}, {"source": {}, "line": 1},
                  {"source": {"path": str(SOURCE)}, "line": -1}):
        expect_in("breakpointLocations", "needs", client.refuse("breakpointLocations", **wrong))


def check_task_places(client, thread):
    top = client.stack(thread)[0]
    scopes = {s["name"]: s["variablesReference"] for s in client.request("scopes", frameId=top["id"])["scopes"]}
    where = client.variables(scopes["Task"])["defined at"]
    place = client.request("locations", locationReference=where["valueLocationReference"])
    expect("where a task is defined", (str(SOURCE), line_of("async fn walk(")),
           (place["source"]["path"], place["line"]))
    expect_in("no such place", "no longer exists", client.refuse("locations", locationReference=2**30))


def check_declarations(client, stopped):
    """Where the source declares the variables of a frame that runs, and of one that is suspended."""
    def check(frame, places):
        found = client.locals(frame)
        for name, line in places.items():
            place = client.request("locations", locationReference=found[name]["declarationLocationReference"])
            expect(f"the declaration of {name}", (str(SOURCE), line), (place["source"]["path"], place["line"]))

    begins = line_of("async fn walk(")
    if DEBUG:  # optimised code may have lost them
        check(client.stack(stopped)[0], {"message": begins, "first": FIRST})
    waits = next(t["id"] for t in client.threads() if "walk" in t["name"] and t["id"] != stopped)
    check(client.stack(waits)[-1], {"message": begins, "orders": begins})


def check_attach(asyncdbg, steps):
    """Breakpoints that come while it runs, a pause, and the console."""
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid, sourceMap=SOURCES)
    if len(client.threads()) < WALKERS:
        raise Failure("tasks are missing while it runs")
    check_places(client)
    expect_in("a stack while it runs", "runs", client.refuse("stackTrace", threadId=1))
    lines = client.request("setBreakpoints", source={"path": str(SOURCE)},
                           breakpoints=[{"line": SECOND}, {"line": FIRST, "hitCondition": ">= 2"}])
    process.order("walk 1")
    stop = client.event("stopped")
    expect("which one", [lines["breakpoints"][0]["id"]], stop["hitBreakpointIds"])
    check_stop(client, process.pid, stop, SECOND)
    check_task_places(client, stop["threadId"])
    check_declarations(client, stop["threadId"])
    first = stop["threadId"]
    said = client.request("evaluate", expression="info breakpoints; task", context="repl",
                          frameId=client.stack(first)[0]["id"])["result"]
    expect_in("the console", "1 hit", said)
    go_on(client)
    process.order("walk 1")
    process.order("walk 2")  # to the second line
    stop = client.event("stopped")
    if stop["threadId"] == first:
        raise Failure("two tasks have one number")
    client.request("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[])
    go_on(client)
    client.request("pause", threadId=1)
    expect("pause", "pause", client.event("stopped")["reason"])
    if first not in [t["id"] for t in client.threads()]:
        raise Failure("a task has another number now")
    added = client.request("evaluate", expression="tbreak steps::walk", context="repl")
    expect_in("a breakpoint of the console", "breakpoint", added["result"])
    added = client.event("breakpoint", reason="new")["breakpoint"]
    expect("its file", str(SOURCE), added["source"]["path"])
    client.request("evaluate", expression="continue", context="repl")
    client.refuse("continue", threadId=1)
    process.order("spawn")
    client.event("stopped")
    expect("it goes at its first hit", added["id"], client.event("breakpoint", reason="removed")["breakpoint"]["id"])
    kept = client.request("setFunctionBreakpoints", breakpoints=[{"name": "steps::walk"}, {"name": "no_such"}])
    expect("reasons", [None, "pending"], [b.get("reason") for b in kept["breakpoints"]])
    client.request("evaluate", expression=f"delete {kept['breakpoints'][0]['id']}", context="repl")
    expect("deleted by the console", kept["breakpoints"][0]["id"],
           client.event("breakpoint", reason="removed")["breakpoint"]["id"])
    client.request("setFunctionBreakpoints", breakpoints=[])
    client.threads()
    expect("no other event", False, client.has_event("breakpoint"))
    client.end()
    process.check_free("disconnect")


def check_two(asyncdbg, steps):
    """Two breakpoints at one place: one stop, with both numbers."""
    process = Steps(steps)
    client = serve(asyncdbg)
    found = client.start("attach", pid=process.pid, sourceMap=SOURCES, functions=["steps::walk"])[0][0]
    line = client.request("setBreakpoints", source={"path": str(SOURCE)},
                          breakpoints=[{"line": found["line"]}, {"line": found["line"], "condition": "1 == 2"}])
    process.order("spawn")
    stop = client.event("stopped")
    expect("which ones", sorted([found["id"], line["breakpoints"][0]["id"]]), sorted(stop["hitBreakpointIds"]))
    client.end()
    process.check_free("two breakpoints")


def check_conditions(asyncdbg, steps):
    """Conditions and hit counts of lines and functions, and those that cannot be read."""
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid, sourceMap=SOURCES)
    source = {"path": str(SOURCE)}

    def ask(**more):
        return client.request("setBreakpoints", source=source, breakpoints=[{"line": SECOND, **more}])["breakpoints"][0]

    def walk(*numbers):
        for number in numbers:
            process.order(f"walk {number}")

    def stopped_task(reason="breakpoint"):
        stop = client.event("stopped", reason=reason)
        names = {t["id"]: t["name"] for t in client.threads()}
        return names[stop["threadId"]].split()[1], stop

    ask(condition=f"task.id == {process.ids[3]}")
    walk(0, 1, 3)
    expect("the task of a condition", process.ids[3], stopped_task()[0])
    for wrong in ({"condition": "1 =="}, {"hitCondition": "0"}, {"hitCondition": "== 3"}, {"hitCondition": "%"}):
        refused = ask(**wrong)
        expect(f"{wrong}", False, refused["verified"])
        expect(f"a reason for {wrong}", True, bool(refused["message"]))
    ask(condition="absent.part == 1")
    go_on(client)
    walk(4)
    unread, stop = stopped_task()
    expect("the first that cannot be read", process.ids[4], unread)
    expect_in("its reason", "absent", stop["text"])
    ask(hitCondition="% 2", condition="task.type != 'x'")
    go_on(client)
    walk(0, 1, 3, 4)  # to the first line again
    walk(0, 1)
    expect("each second", process.ids[1], stopped_task()[0])
    client.request("setBreakpoints", source=source, breakpoints=[])
    found = client.request("setFunctionBreakpoints", breakpoints=[
        {"name": "steps::walk", "condition": "message == 'x'"}])["breakpoints"][0]
    expect("a function", True, found["verified"])
    go_on(client)
    process.order("spawn")
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "steps::walk", "hitCondition": "2"}])
    process.order("spawn")
    process.order("spawn")
    client.event("stopped", reason="function breakpoint")
    client.end()
    process.check_free("conditions")


def check_logpoints(asyncdbg, steps):
    """Lines on the console; the program is not stopped."""
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid, sourceMap=SOURCES)
    source = {"path": str(SOURCE)}

    def ask(message):
        lines = [{"line": SECOND, "logMessage": message}]
        return client.request("setBreakpoints", source=source, breakpoints=lines)["breakpoints"][0]

    expect("a text that is none", False, ask("n is {n")["verified"])
    expect("a logpoint", True, ask("it is {task.id}, {absent}")["verified"])
    for number in (2, 4):
        process.order(f"walk {number}")
        output = client.event("output", category="console")["output"]
        while "it is" not in output:
            output = client.event("output", category="console")["output"]
        expect_in("a line", f"task {process.ids[number]}: it is {process.ids[number]}, {{absent: no variable", output)
    client.end()
    process.check_free("logpoints")


def check_steps(asyncdbg, steps):
    """Steps over lines and an await, of one instance whatever others do."""
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid, sourceMap=SOURCES,
                 breakpoints={str(SOURCE): [FIRST + 1]})
    process.order("walk 3")  # it waits at the first await, or at the second
    process.order("walk 3")
    thread = client.event("stopped")["threadId"]
    client.request("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[])
    line, seen = 0, []
    while line != SECOND:
        client.request("next", threadId=thread)
        expect("the stepped task", thread, client.event("stopped", reason="step")["threadId"])
        line = client.stack(thread)[0]["line"]
        seen.append(line)
        if len(seen) > 10:
            raise Failure(f"lines: {seen}")
    client.request("next", threadId=thread)  # over the await
    for number in (1, 2, 3):
        process.order(f"walk {number}")
    expect("behind the await", thread, client.event("stopped", reason="step")["threadId"])
    expect("its line", SECOND + 1, client.stack(thread)[0]["line"])
    client.request("next", threadId=thread, granularity="instruction")
    client.event("stopped")
    client.request("stepIn", threadId=thread, granularity="instruction")
    expect("an instruction", "step", client.event("stopped")["reason"])
    other = next(t["id"] for t in client.threads() if t["id"] > 1000000 and t["id"] != thread and
                 "waiting" in t["name"])
    expect_in("a task that waits", "no thread is running", client.refuse("next", threadId=other))
    client.end()
    process.check_free("steps")


def check_signals(asyncdbg, steps):
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid, stopOnAttach=True)
    client.event("stopped", reason="entry")
    go_on(client)
    os.kill(process.pid, signal.SIGABRT)
    expect("text", "SIGABRT", client.event("stopped", reason="exception")["text"])
    go_on(client)
    expect("exit code", 128 + signal.SIGABRT, client.event("exited")["exitCode"])
    client.event("terminated")
    client.end()
    process.process.wait()


def check_loss(asyncdbg, steps):
    """A client that goes away while the program runs, stands still, or is being launched."""
    for what in ("runs", "stands", "half", "killed"):
        process = Steps(steps)
        client = serve(asyncdbg)
        client.start("attach", pid=process.pid, functions=["steps::walk"], stopOnAttach=what == "stands")
        if what == "stands":
            client.event("stopped")
        if what == "half":
            client.send_bytes(b"Content-Length: 100\r\n\r\n{\"seq\":")
        if what == "killed":
            client.process.send_signal(signal.SIGTERM)
        client.process.stdin.close()
        client.wait()
        process.check_free(f"a client that goes away: it {what}")
    client = serve(asyncdbg)
    client.start("launch", program=steps, stopOnEntry=True)
    client.event("stopped", reason="entry")
    pid = client.event("process")["systemProcessId"]
    client.process.stdin.close()
    client.wait()
    if pathlib.Path(f"/proc/{pid}").exists():
        raise Failure("a launched program outlives its client")


# Programs that receive SIGTERM, and what is their status then.
CATCHES = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.1; done"
IGNORES = "trap '' TERM; echo ready; while :; do sleep 0.1; done"


def stop_shell(asyncdbg, script):
    """A launched shell, halted when it has said "ready"."""
    client = serve(asyncdbg)
    client.start("launch", program="/bin/sh", args=["-c", script])
    while "ready" not in client.event("output", category="stdout")["output"]:
        pass
    client.request("pause", threadId=1)
    client.event("stopped")
    return client


def check_terminate(asyncdbg, steps):
    """The first one is SIGTERM, which a program that stands still receives; the second one kills."""
    client = serve(asyncdbg)
    client.start("launch", program=steps, stopOnEntry=True)
    client.event("stopped")
    client.request("terminate")
    client.event("exited", exitCode=128 + signal.SIGTERM)
    client.event("terminated")
    client.end()
    client = stop_shell(asyncdbg, CATCHES)
    client.request("terminate")
    client.event("continued")
    expect_in("its handler", "caught", client.event("output", category="stdout")["output"])
    client.event("exited", exitCode=7)
    client.event("terminated")
    client.end()
    client = stop_shell(asyncdbg, IGNORES)
    client.request("terminate")
    client.event("continued")
    client.request("pause", threadId=1)
    client.event("stopped")
    client.request("terminate")
    client.event("exited", exitCode=128 + signal.SIGKILL)
    client.event("terminated")
    client.end()
    client = serve(asyncdbg)
    client.initialize()
    expect_in("no such program", "/nonexistent", client.refuse("launch", program="/nonexistent"))
    client.end()


def check_restart(asyncdbg, steps):
    """Another process with the same breakpoints, from a stop, while it runs, and with other arguments."""
    client = serve(asyncdbg)
    found = client.start("launch", program=steps, sourceMap=SOURCES, functions=["steps::walk"])[0]
    pids = [client.event("process")["systemProcessId"]]
    for arguments in ({}, {"arguments": {"stopOnEntry": True}}):
        client.event("stopped", reason="function breakpoint")
        client.request("restart", **arguments)
        pids.append(client.event("process")["systemProcessId"])
        if arguments:
            client.event("stopped", reason="entry")
            client.request("setFunctionBreakpoints", breakpoints=[])
            go_on(client)
    expect("processes", len(pids), len(set(pids)))
    for pid in pids[:-1]:
        if pathlib.Path(f"/proc/{pid}").exists():
            raise Failure("a program outlives its restart")
    client.event("exited", exitCode=0)
    client.event("terminated")
    expect("ends", 1, sum(e["event"] == "terminated" for e in client.all_events))
    expect_in("after its end", "ended", client.refuse("restart"))
    client.end()
    expect("verified", True, found[0]["verified"])

    client = serve(asyncdbg)
    client.initialize()
    client.refuse("restart")
    client.request("launch", program=steps)
    expect_in("before it runs", "configurationDone", client.refuse("restart"))
    client.end()
    process = Steps(steps)
    client = serve(asyncdbg)
    client.start("attach", pid=process.pid)
    expect("what an attached one can", {"supportsRestartRequest": False}, client.event("capabilities")["capabilities"])
    expect_in("attached", "launched", client.refuse("restart"))
    client.end()
    process.check_free("restart")


def check_cancel(asyncdbg, steps):
    """A launch that is cancelled leaves no program, and another one can follow."""
    for _ in range(5):
        client = serve(asyncdbg)
        client.initialize()
        launch = client.send("launch", {"program": steps})
        client.request("cancel", requestId=launch)
        answer = client.answer(launch)
        if not answer["success"]:
            expect("a launch", "cancelled", answer["message"])
            expect_in("no program", "no program", client.refuse("threads"))
            client.request("launch", program=steps)
        client.request("cancel", progressId="no such progress")
        client.request("cancel", requestId=2**30)
        client.request("configurationDone")
        client.event("exited", exitCode=0)
        client.end()


def test(asyncdbg, steps):
    check_launch(asyncdbg, steps)
    check_attach(asyncdbg, steps)
    check_two(asyncdbg, steps)
    check_conditions(asyncdbg, steps)
    check_logpoints(asyncdbg, steps)
    if DEBUG:  # optimised code has fewer lines
        check_steps(asyncdbg, steps)
    check_signals(asyncdbg, steps)
    check_loss(asyncdbg, steps)
    check_terminate(asyncdbg, steps)
    check_restart(asyncdbg, steps)
    check_cancel(asyncdbg, steps)
    print("dap, live: all as it should be")


test(*sys.argv[1:])
