#!/usr/bin/env python3
"""A client of `asyncdbg dap` that stops where memory changes, and changes it.

usage: run_dap_change.py ASYNCDBG PROGRAMS

PROGRAMS is the folder of the built programs steps and locals.
"""
import pathlib
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
from harness.checks import expect, expect_in
from harness.dap import Client
from harness.steps import Steps

DEBUG = "debug" in pathlib.Path(sys.argv[2]).parts
# The programs are built with their folder remapped.
SOURCES = {"/src": str(TESTDATA / "programs")}


def attach(asyncdbg, pid):
    """The program stands still."""
    client = Client([asyncdbg, "dap"])
    client.start("attach", pid=pid, stopOnAttach=True, sourceMap=SOURCES)
    client.event("stopped")
    return client


def go_on(client):
    client.request("continue", threadId=1)


def scopes_of(client, frame):
    listed = client.request("scopes", frameId=frame["id"])["scopes"]
    return {scope["name"]: scope["variablesReference"] for scope in listed}


def own_frame(client, name):
    """The thread of a task, and the frame of its own async function."""
    thread = next(t["id"] for t in client.threads() if t["id"] > 1000000 and f" {name} " in t["name"])
    return thread, next(f for f in client.stack(thread) if f["name"] == f"async {name}")


# ---- data breakpoints ----

def choose(client, **what):
    info = client.request("dataBreakpointInfo", **what)
    expect(f"access to {what}: {info['description']}", ["write", "read", "readWrite"], info.get("accessTypes"))
    return info["dataId"]


def watch(client, *ids, **more):
    return client.request("setDataBreakpoints", breakpoints=[{"dataId": i, **more} for i in ids])["breakpoints"]


def refuse_info(client, part, **what):
    info = client.request("dataBreakpointInfo", **what)
    expect(f"{what}", None, info["dataId"])
    expect_in(f"the reason of {what}", part, info["description"])


def check_state(client, process, task, frame):
    """The state of a task changes where it goes on, and at its next await."""
    scopes = scopes_of(client, frame)
    state = choose(client, variablesReference=scopes["Task"], name="state")
    (breakpoint,) = watch(client, state)
    expect("a state", True, breakpoint["verified"])
    expect("the same one", breakpoint, watch(client, state)[0])
    go_on(client)
    number = process.ids.index(client.task_id)
    process.order(f"walk {(number + 1) % len(process.ids)}")
    process.order(f"walk {number}")
    stop = client.event("stopped", reason="data breakpoint")
    expect("which", ([breakpoint["id"]], task), (stop["hitBreakpointIds"], stop["threadId"]))
    for part in ("--state of task", ", was ", "src/main.rs:"):
        expect_in("its text", part, stop["text"])
    refuse_info(client, "not a variable", variablesReference=scopes_of(client, client.stack(task)[0])["Task"], name="id")
    expect("none", [], watch(client))


def check_refused(client, frame):
    """What cannot be watched says why."""
    native = client.stack(client.threads()[0]["id"])[0]
    refuse_info(client, "register", variablesReference=scopes_of(client, native)["Registers"], name="rip")
    refuse_info(client, "no_such", variablesReference=scopes_of(client, frame)["Locals"], name="no_such")
    refuse_info(client, "no_such", frameId=frame["id"], name="no_such")
    refuse_info(client, "no longer exists", variablesReference=2**30, name="x")
    refuse_info(client, "type", asAddress=True, name="0x1000", bytes=8)
    client.refuse("dataBreakpointInfo")
    count = choose(client, name="steps::STEPS")
    for found in (watch(client, "no such id"), watch(client, count, accessType="execute"),
                  watch(client, count, condition="no_such == 1"), watch(client, count, condition="1 =="),
                  watch(client, count, hitCondition="many")):
        expect("refused", (False, True), (found[0]["verified"], bool(found[0]["message"])))
    many = [choose(client, name=name) for name in ("steps::STEPS", "steps::LINE")]
    if DEBUG:
        many.append(choose(client, variablesReference=scopes_of(client, frame)["Locals"], name="message"))
    found = watch(client, *many)
    expect("four words", [True, True, False][:len(many)], [b["verified"] for b in found])
    watch(client)


def check_static(client, process):
    count = choose(client, name="steps::STEPS")
    (breakpoint,) = watch(client, count)
    go_on(client)
    process.order("walk 2")
    stop = client.event("stopped", reason="data breakpoint")
    expect("which", [breakpoint["id"]], stop["hitBreakpointIds"])
    expect_in("its text", "steps::STEPS is ", stop["text"])
    said = client.request("evaluate", expression="watch steps::LINE", context="repl")["result"]
    expect_in("the console", "steps::LINE", said)
    number = client.event("breakpoint", reason="new")["breakpoint"]["id"]
    client.request("evaluate", expression=f"delete {number}", context="repl")
    watch(client)


def check_conditions(client, process):
    """A value, the task that writes, a number of hits, and reads."""
    line = choose(client, name="steps::LINE")
    number = process.ids.index(client.task_id)
    wish = {"condition": f"task.id == {client.task_id} && steps::LINE > 0", "hitCondition": "2"}
    (breakpoint,) = watch(client, line, **wish)
    expect("the same one", breakpoint, watch(client, line, **wish)[0])
    go_on(client)
    for walker in [(number + 1) % len(process.ids)] * 2 + [number] * 2:
        process.order(f"walk {walker}")
    stop = client.event("stopped", reason="data breakpoint")
    expect("which", [breakpoint["id"]], stop["hitBreakpointIds"])
    (reads,) = watch(client, line, accessType="read")
    expect("another one", (True, True), (reads["verified"], reads["id"] != breakpoint["id"]))
    go_on(client)
    stop = client.event("stopped", reason="data breakpoint")
    expect_in("its text", "steps::LINE was read: it is ", stop["text"])
    watch(client)


def check_data(asyncdbg, steps):
    process = Steps(str(steps))
    client = attach(asyncdbg, process.pid)
    task, frame = own_frame(client, "steps::walk")
    client.task_id = client.variables(scopes_of(client, frame)["Task"])["id"]["value"]
    check_refused(client, frame)
    check_conditions(client, process)
    frame = next(f for f in client.stack(task) if f["name"] == "async steps::walk")
    check_state(client, process, task, frame)
    check_static(client, process)
    go_on(client)
    expect_in("while it runs", "runs", client.refuse("dataBreakpointInfo", name="steps::LINE"))
    client.end()
    process.check_free("data breakpoints")


# ---- values that are set ----

def check_scalars(client, frame):
    reference = scopes_of(client, frame)["Locals"]
    for name, value, shown in (("word", "7", "7"), ("yes", "false", "false"), ("letter", "'z'", "'z'"),
                               ("tiny", "-5", "-5"), ("byte", "0xff", "255"), ("long", "1_000", "1000")):
        answer = client.request("setVariable", variablesReference=reference, name=name, value=value)
        expect(f"{name} is set", shown, answer["value"])
        client.event("invalidated", areas=["variables"])
        expect(f"{name} is read", shown, client.variables(reference)[name]["value"])
    for name, value in (("word", "-1"), ("byte", "256"), ("yes", "1"), ("letter", "zz"), ("word", ""), ("word", "x"),
                        ("unit", "1"), ("no_such", "1")):
        client.refuse("setVariable", variablesReference=reference, name=name, value=value)
    expect("the last one", "7", client.variables(reference)["word"]["value"])
    client.refuse("setVariable", variablesReference=reference, name="word")
    client.refuse("setVariable", variablesReference=2**30, name="word", value="1")
    client.refuse("setVariable", name="word", value="1")
    client.refuse("setVariable", variablesReference=scopes_of(client, frame)["Task"], name="state", value="1")


def check_parts(client, frame):
    point = client.locals(frame)["point"]
    answer = client.request("setVariable", variablesReference=point["variablesReference"], name="x", value="9")
    expect("a member", "9", answer["value"])
    answer = client.request("setExpression", expression="triple.0", value="5", frameId=frame["id"])
    expect("an expression", ("5", "u8"), (answer["value"], answer["type"]))
    for expression, value in (("x: 9", "point"), ("(5, ", "triple")):
        expect_in(value, expression, client.locals(frame)[value]["value"])
    client.refuse("setExpression", expression="point", value="1", frameId=frame["id"])
    client.refuse("setExpression", expression="no_such", value="1", frameId=frame["id"])
    client.refuse("setExpression", value="1", frameId=frame["id"])


def check_set(asyncdbg, program):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while process.stdout.readline() != "ready\n":
        pass
    client = attach(asyncdbg, process.pid)
    check_scalars(client, own_frame(client, "locals::plain::scalars")[1])
    check_parts(client, own_frame(client, "locals::plain::compounds")[1])
    expect("the warning", 1, client.output("console").count("writes to the memory"))
    reference = scopes_of(client, own_frame(client, "locals::plain::scalars")[1])["Locals"]
    go_on(client)
    expect_in("while it runs", "runs", client.refuse("setVariable", variablesReference=reference, name="word",
                                                     value="1"))
    client.end()
    process.stdin.close()
    expect("its end", 0, process.wait())


def test(asyncdbg, programs):
    programs = pathlib.Path(programs)
    check_data(asyncdbg, programs / "steps")
    if DEBUG:  # optimised code has fewer variables
        check_set(asyncdbg, programs / "locals")
    print("dap, changes: all as it should be")


test(*sys.argv[1:])
