#!/usr/bin/env python3
"""A client of `asyncdbg dap` that looks at native frames and stops at exceptions: panics, deadlocks and
signals.

usage: run_dap_more.py ASYNCDBG PROGRAMS

PROGRAMS is the folder of the built programs steps, panicked and deadlocks.
"""
import os
import pathlib
import signal
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
from harness.checks import Failure, expect, expect_in
from harness.dap import TYPES, Client
from harness.steps import Steps

DEBUG = "debug" in pathlib.Path(sys.argv[2]).parts
# The programs are built with their folder remapped.
SOURCES = {"/src": str(TESTDATA / "programs")}


def begin(asyncdbg):
    client = Client([asyncdbg, "dap"])
    client.capabilities = client.initialize()
    return client


def launch(asyncdbg, program, *args, **exceptions):
    """A program that runs, with exception filters."""
    client = begin(asyncdbg)
    client.request("launch", program=str(program), args=list(args), sourceMap=SOURCES)
    client.event("initialized")
    answer = client.request("setExceptionBreakpoints", **{"filters": [], **exceptions})
    client.request("configurationDone")
    return client, answer["breakpoints"]


def check_abort(client, go_on=False):
    """Its second panic, while it unwinds, aborts the program, which ends with the session."""
    if go_on:
        client.request("continue", threadId=1)
    expect("the end of panicked", "SIGABRT", client.event("stopped", reason="exception")["text"])
    client.end()


def check_panics(asyncdbg, panicked):
    for chosen in ({"filters": ["panic"]}, {"filterOptions": [{"filterId": "task-panic"}]},
                   {"filterOptions": [{"filterId": "panic", "condition": "task.name == 'panicked::crash::run'"}]}):
        client, (breakpoint,) = launch(asyncdbg, panicked, "panic", **chosen)
        expect(f"{chosen}", True, breakpoint["verified"])
        stop = client.event("stopped")
        expect("reason", ("exception", [breakpoint["id"]]), (stop["reason"], stop["hitBreakpointIds"]))
        expect_in("its text", ": the first one", stop["text"])
        answer = client.request("exceptionInfo", threadId=stop["threadId"])
        wanted = ("task-panic", "unhandled") if "task-panic" in str(chosen) else ("panic", "always")
        expect("exceptionInfo", (*wanted, stop["text"]),
               (answer["exceptionId"], answer["breakMode"], answer["details"]["message"]))
        expect_in("another thread", "no exception", client.refuse("exceptionInfo", threadId=stop["threadId"] + 1))
        if not any("panicked::crash::crash" in row["name"] for row in client.stack(stop["threadId"])):
            raise Failure("the stack of a panic")
        client.request("setExceptionBreakpoints", filters=[])
        check_abort(client, go_on=True)
    client, (breakpoint,) = launch(asyncdbg, panicked, "panic", filterOptions=[
        {"filterId": "panic", "condition": "task.name == 'another'"}])
    expect("a filter with a condition", True, breakpoint["verified"])
    check_abort(client)


def check_deadlocks(asyncdbg, deadlocks):
    """Each one is reported once, with a task that is in it."""
    process = subprocess.Popen([deadlocks], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    client = begin(asyncdbg)
    client.request("attach", pid=process.pid, sourceMap=SOURCES)
    (breakpoint,) = client.request("setExceptionBreakpoints", filters=[], filterOptions=[
        {"filterId": "deadlock", "condition": "50ms"}])["breakpoints"]
    expect("a filter", True, breakpoint["verified"])
    client.request("configurationDone")
    texts = []
    for _ in range(2):
        stop = client.event("stopped")
        expect("reason", ("exception", "Deadlock"), (stop["reason"], stop["description"]))
        name = next(t["name"] for t in client.threads() if t["id"] == stop["threadId"])
        expect_in("its task", " ".join(name.split()[:2]), stop["text"])
        expect("exceptionInfo", "deadlock",
               client.request("exceptionInfo", threadId=stop["threadId"])["exceptionId"])
        texts.append(stop["text"])
        client.request("continue", threadId=1)
    if texts[0] == texts[1]:
        raise Failure(f"the same deadlock twice: {texts}")
    for condition in ("0", "soon", "-1s"):
        answer = client.request("setExceptionBreakpoints", filters=[], filterOptions=[
            {"filterId": "deadlock", "condition": condition}])
        expect(f"every {condition}", False, answer["breakpoints"][0]["verified"])
    expect_in("an unknown filter", "no_such", client.refuse("setExceptionBreakpoints", filters=["no_such"]))
    client.end()
    process.stdin.close()
    expect("the end of deadlocks", 0, process.wait())


def check_signals(asyncdbg, steps):
    process = Steps(str(steps))
    client = begin(asyncdbg)
    client.request("attach", pid=process.pid)
    client.request("configurationDone")
    os.kill(process.pid, signal.SIGABRT)
    stop = client.event("stopped", reason="exception")
    answer = client.request("exceptionInfo", threadId=stop["threadId"])
    expect("a signal", ("SIGABRT", "always"), (answer["exceptionId"], answer["breakMode"]))
    client.request("continue", threadId=1)
    expect("exit code", 128 + signal.SIGABRT, client.event("exited")["exitCode"])
    expect_in("after its end", "ended", client.refuse("exceptionInfo", threadId=stop["threadId"]))
    client.end()
    process.process.wait()


def check_native(asyncdbg, steps):
    """Variables and expressions of native frames, which execute no coroutine."""
    client = begin(asyncdbg)
    client.request("launch", program=str(steps), sourceMap=SOURCES)
    client.request("setFunctionBreakpoints", breakpoints=[{"name": "truth::say"}])
    client.request("configurationDone")
    stop = client.event("stopped")
    rows = client.stack(stop["threadId"])
    say = rows[0]
    expect("the innermost frame", "truth::say", say["name"])
    if DEBUG:
        shown = client.locals(say)
        for context in ("hover", "watch", "repl"):
            answer = client.request("evaluate", expression="line", frameId=say["id"], context=context)
            expect(f"{context} in a native frame", shown["line"]["value"], answer["result"])
        caller = next(row for row in rows if row["name"] == "steps::main")
        expect_in("a variable of a caller", "orders", str(client.locals(caller)["walkers"]))
        walkers = client.request("evaluate", expression="walkers.orders", frameId=caller["id"], context="watch")
        expect("its parts", True, walkers["variablesReference"] != 0)
        answer = client.request("evaluate", expression="print ids", frameId=caller["id"], context="repl")["result"]
        expect_in("the console's frame", "ids", answer)
        names = client.request("completions", text="walkers.or", column=11, frameId=caller["id"])["targets"]
        expect("completions", ["orders"], [name["label"] for name in names])
    expect_in("a name that is not there", "no_such", client.refuse(
        "evaluate", expression="no_such", frameId=say["id"], context="hover"))
    scopes = client.request("scopes", frameId=say["id"])["scopes"]
    registers = next(s for s in scopes if s["name"] == "Registers")
    pc = client.variables(registers["variablesReference"])["rip"]["value"]
    expect("rip", say["instructionPointerReference"], pc)
    client.end()


REQUESTS = {"supportsCancelRequest": "cancel", "supportsExceptionInfoRequest": "exceptionInfo",
            "supportsReadMemoryRequest": "readMemory", "supportsDisassembleRequest": "disassemble",
            "supportsModulesRequest": "modules", "supportsCompletionsRequest": "completions",
            "supportsFunctionBreakpoints": "setFunctionBreakpoints", "supportsTerminateRequest": "terminate",
            "supportsInstructionBreakpoints": "setInstructionBreakpoints",
            "supportsConfigurationDoneRequest": "configurationDone", "supportsDataBreakpoints": "setDataBreakpoints",
            "supportsSetVariable": "setVariable", "supportsSetExpression": "setExpression",
            "supportsRestartRequest": "restart", "supportsBreakpointLocationsRequest": "breakpointLocations",
            "supportsGotoTargetsRequest": "gotoTargets", "supportsLoadedSourcesRequest": "loadedSources",
            "supportsWriteMemoryRequest": "writeMemory", "supportsStepInTargetsRequest": "stepInTargets",
            "supportsTerminateThreadsRequest": "terminateThreads", "supportsStepBack": "stepBack",
            "supportsRestartFrame": "restartFrame"}


def check_capabilities(asyncdbg):
    """A request is claimed exactly if there is one."""
    client = begin(asyncdbg)
    for name, command in REQUESTS.items():
        answer = client.answer(client.send(command, {}))
        there = answer["success"] or "not supported" not in answer["message"]
        expect(f"{name}", there, client.capabilities.get(name, False))
    client.end()


def check_documented():
    """docs/editors.md has each request of the protocol."""
    names = [t.rsplit(".", 1)[1][:-len("Request")] for t in TYPES if t.endswith("Request")]
    text = (TESTDATA.parent / "docs/editors.md").read_text().split("## Requests")[1].split("\n## ")[0]
    for name in filter(None, names):
        expect_in("docs/editors.md", f"`{name[0].lower()}{name[1:]}`", text)


def test(asyncdbg, programs):
    programs = pathlib.Path(programs)
    check_documented()
    check_capabilities(asyncdbg)
    check_native(asyncdbg, programs / "steps")
    check_panics(asyncdbg, programs / "panicked")
    check_deadlocks(asyncdbg, programs / "deadlocks")
    check_signals(asyncdbg, programs / "steps")
    print("dap, more: all as it should be")


test(*sys.argv[1:])
