#!/usr/bin/env python3
"""A client of `asyncdbg dap` with servers under load, axum and mini-redis: it launches them, stops in their
handlers, looks at what is there, steps and goes away. Each message is validated.

usage: run_dap_servers.py ASYNCDBG PROFILE

Builds the servers in PROFILE; BINARIES=DIR uses those that are built already. Exit status 77 where there is no
cargo.
"""
import os
import pathlib
import shutil
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
from harness.checks import Failure, expect, expect_in
from harness.dap import Client
from run_servers import Server, build

STEPS = 12


def lines_of(server):
    return (TESTDATA / "servers" / server / "src/main.rs").read_text().splitlines()


def line_of(server, text):
    return next(n for n, line in enumerate(lines_of(server), 1) if text in line)


def launch(asyncdbg, program, **breakpoints):
    client = Client([asyncdbg, "dap"])
    return client, client.start("launch", program=str(program), **breakpoints)


def look_around(client, thread):
    """Asks all that an editor asks at a stop; the innermost frame."""
    if thread not in [t["id"] for t in client.threads()]:
        raise Failure("the thread of a stop is not listed")
    frames = client.stack(thread)
    for frame in frames[:4]:
        for scope in client.request("scopes", frameId=frame["id"])["scopes"]:
            client.variables(scope["variablesReference"])
    if not any(frame["name"].startswith("await stack of task") for frame in frames):
        raise Failure("the stack has no await stack")
    return frames[0]


def variables_of(client, frame):
    """Of a frame, by name."""
    scopes = client.request("scopes", frameId=frame["id"])["scopes"]
    found = {}
    for scope in scopes:
        if scope["name"] != "Registers":
            found.update(client.variables(scope["variablesReference"]))
    return {name: variable["value"] for name, variable in found.items()}


def check_variables(client, frames, wanted):
    """The innermost frame and that of the await stack are one function, inlined or not: what both have is the same."""
    label = next(n for n, frame in enumerate(frames) if frame["name"].startswith("await stack of task"))
    function = frames[0]["name"].split(" ")[0]
    awaiting = next(frame for frame in frames[label + 1:] if function in frame["name"])
    # This one first: nothing has read its memory yet.
    there, here = variables_of(client, awaiting), variables_of(client, frames[0])
    missing = [name for name in wanted if name not in here]
    expect("variables of the innermost frame that are missing", [], missing)
    expect("variables of its await", {name: here.get(name) for name in there}, there)


def source_line(frame):
    """The text of the frame's line, if its source is here."""
    path = pathlib.Path(frame["source"].get("path", ""))
    return path.read_text().splitlines()[frame["line"] - 1] if path.is_file() else None


def next_line(client, thread):
    """Where a step over a line ends, in the same task."""
    client.request("next", threadId=thread)
    stop = client.event("stopped")
    expect("the stepped task", thread, stop["threadId"])
    return client.stack(thread)[0]


def check_axum(asyncdbg, program):
    client, found = launch(asyncdbg, program, functions=["axum_load::look_up"])
    ours = found[0][0]["id"]
    client.event("process", startMethod="launch")
    for _ in range(3):
        stop = client.event("stopped", allThreadsStopped=True)
        expect("a stop", ("function breakpoint", [ours]), (stop["reason"], stop["hitBreakpointIds"]))
        top = look_around(client, stop["threadId"])
        expect("where", ("main.rs", line_of("axum_load", "sleep(Duration::from_millis(3))")),
               (top["source"]["name"], top["line"]))
        client.request("continue", threadId=stop["threadId"])
    thread = client.event("stopped")["threadId"]
    # The handler is resumed by whatever thread, while others come to the breakpoint.
    client.request("setFunctionBreakpoints", breakpoints=[])
    expect("behind the await", line_of("axum_load", "format!(\"item {}\", number)"), next_line(client, thread)["line"])
    client.request("continue", threadId=thread)
    client.end()


def check_redis(asyncdbg, program):
    """A handler in a library, whose body an attribute has put into a block."""
    client, _ = launch(asyncdbg, program, functions=["mini_redis::cmd::get::Get::apply"])
    thread = client.event("stopped", reason="function breakpoint")["threadId"]
    check_variables(client, client.stack(thread), ["self", "db", "dst"])
    top = look_around(client, thread)
    expect_in("its first line", "let response = ", source_line(top) or "let response = ")
    client.request("setFunctionBreakpoints", breakpoints=[])
    second = next_line(client, thread)
    expect("a line of the same file", top["source"]["name"], second["source"]["name"])
    if second["line"] <= top["line"]:
        raise Failure(f"line {second['line']} follows {top['line']}")
    client.end()


def step_in_crowd(client, pid):
    begin = line_of("mini_redis_load", "async fn request")
    source = {"path": str(TESTDATA / "servers/mini_redis_load/src/main.rs")}
    never = [{"line": begin + n, "condition": "1 == 2"} for n in range(1, 7)]

    client.start("attach", pid=pid, functions=["mini_redis_load::Redis::request"])
    thread = client.event("stopped", reason="function breakpoint")["threadId"]
    client.request("setFunctionBreakpoints", breakpoints=[])
    found = client.request("setBreakpoints", source=source, breakpoints=never)["breakpoints"]
    expect("its lines have code", [True] * len(never), [row["verified"] for row in found])
    for _ in range(STEPS):
        next_line(client, thread)
    client.request("setBreakpoints", source=source, breakpoints=[])
    client.request("continue", threadId=thread)
    client.request("pause", threadId=1)
    expect("pause", "pause", client.event("stopped")["reason"])
    client.end()


def check_crowd(asyncdbg, program):
    """All clients run the same lines, each with a breakpoint that never halts: a step stays with its own."""
    server, client = Server(program), Client([asyncdbg, "dap"])
    try:
        step_in_crowd(client, int(server.pid))
        server.say("hold")
        server.expect("held")
    finally:
        client.process.kill()
        server.process.kill()
        server.process.wait()


def test(asyncdbg, profile):
    servers = ["mini_redis_load", "axum_load"]
    binaries = os.environ.get("BINARIES")
    if not binaries and not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    programs = pathlib.Path(binaries) if binaries else build(profile, servers)
    check_axum(asyncdbg, programs / "axum_load")
    check_redis(asyncdbg, programs / "mini_redis_load")
    check_crowd(asyncdbg, programs / "mini_redis_load")
    print("dap, servers: all as it should be")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    test(*sys.argv[1:])
