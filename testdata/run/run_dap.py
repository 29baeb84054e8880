#!/usr/bin/env python3
"""A client of `asyncdbg dap` on the cores of fixtures and on a saved snapshot, and clients that send
garbage, half messages and requests out of order.

usage: run_dap.py ASYNCDBG DIR

DIR has the cores and executables of the fixtures locals and selects.
"""
import base64
import json
import os
import pathlib
import socket
import subprocess
import sys

from harness.checks import Failure, expect, expect_in
from harness.dap import LIMIT, Client

MAX_DEPTH = 12


def open_core(asyncdbg, work, name, **more):
    client = Client([asyncdbg, "dap"])
    client.start("attach", core=str(work / f"{name}.core"), program=str(work / f"{name}.exe"), **more)
    return client


def open_all(client, reference, depth, seen):
    """Opens a value and all that is in it; returns how many there are."""
    if reference in seen or depth == 0:
        return 0
    seen.add(reference)
    listed = client.request("variables", variablesReference=reference)["variables"]
    return len(listed) + sum(open_all(client, v["variablesReference"], depth - 1, seen)
                             for v in listed if v["variablesReference"])


def thread_of(client, name):
    found = [t for t in client.threads() if f" {name} " in t["name"]]
    expect(f"tasks {name}", 1, len(found))
    return found[0]["id"]


def own_frame(client, thread):
    return next(f for f in client.stack(thread) if f["name"].startswith("async "))


def check_core(asyncdbg, work):
    """All threads, frames and values of a core."""
    client = open_core(asyncdbg, work, "locals")
    stop = client.event("stopped")
    expect("reason", "pause", stop["reason"])
    reduced = client.event("capabilities")["capabilities"]
    expect("capabilities of a core", {False}, set(reduced.values()))
    threads = client.threads()
    expect("tasks", 24, sum(t["id"] > 1000000 for t in threads))
    expect("the stopped thread is listed", True, stop["threadId"] in [t["id"] for t in threads])
    seen, values = set(), 0
    for thread in threads:
        for frame in client.stack(thread["id"]):
            for scope in client.request("scopes", frameId=frame["id"])["scopes"]:
                values += open_all(client, scope["variablesReference"], MAX_DEPTH, seen)
    if values < 500:
        raise Failure(f"only {values} values")
    for command in ("continue", "next", "stepIn", "stepOut", "pause"):
        expect_in(command, "post-mortem", client.refuse(command, threadId=1))
    scope = client.request("scopes", frameId=client.stack(threads[-1]["id"])[-1]["id"])["scopes"][0]
    info = client.request("dataBreakpointInfo", variablesReference=scope["variablesReference"], name="x")
    expect("a data breakpoint", None, info["dataId"])
    for command, key in (("setVariable", "name"), ("setExpression", "expression")):
        expect_in(command, "post-mortem", client.refuse(
            command, variablesReference=scope["variablesReference"], value="1", **{key: "x"}))
    for found in (client.request("setFunctionBreakpoints", breakpoints=[{"name": "main"}]),
                  client.request("setExceptionBreakpoints", filters=["panic"])):
        expect("a breakpoint", False, found["breakpoints"][0]["verified"])
    client.end()
    expect("exit code", 0, client.wait())


def check_values(asyncdbg, work):
    """Values whose parts are known, in pages, and expressions."""
    client = open_core(asyncdbg, work, "locals")
    maps = client.locals(own_frame(client, thread_of(client, "locals::std_types::maps")))
    for name in ("tree", "table"):
        found = [v for n, v in maps.items() if name in n or "Map" in v["type"]]
        if not found:
            raise Failure(f"no map: {maps}")
    frame = own_frame(client, thread_of(client, "locals::plain::sequences"))
    lists = client.locals(frame)
    vectors = [v for v in lists.values() if v["type"].startswith("alloc::vec::Vec<") and
               v.get("indexedVariables", 0) > 1]
    if not vectors:
        raise Failure(f"no vectors: {lists}")
    whole = client.variables(vectors[0]["variablesReference"])
    expect("elements", vectors[0]["indexedVariables"], len(whole))
    page = client.variables(vectors[0]["variablesReference"], filter="indexed", start=1, count=1)
    expect("a page", {"[1]": whole["[1]"]}, page)
    expect("named ones of a list", {},
           client.variables(vectors[0]["variablesReference"], filter="named", start=0, count=1))
    expression = f"{vectors[0]['name']}[1]"
    for context in ("watch", "hover", "clipboard", "repl"):
        shown = client.request("evaluate", expression=expression, frameId=frame["id"], context=context)
        expect(f"{expression}, {context}", whole["[1]"]["value"], shown["result"])
    expect_in("an unknown name", "no variable", client.refuse(
        "evaluate", expression="no_such", frameId=frame["id"], context="watch"))
    said = client.request("evaluate", expression="runtimes; tasks --limit 1", context="repl")["result"]
    expect_in("the console", "multi_thread", said)
    expect_in("a wrong command", "no_such", client.refuse(
        "evaluate", expression="no_such --option", context="repl"))
    client.end()


def check_functions(asyncdbg, work):
    """From a function pointer to the function."""
    client = open_core(asyncdbg, work, "locals")
    frames = [frame for thread in client.threads() for frame in client.stack(thread["id"])
              if frame["name"] == "async locals::owners::objects"]
    pointer = client.locals(frames[0])["function"]
    place = client.request("locations", locationReference=pointer["valueLocationReference"])
    expect_in("where it is", "core/src/num", place["source"]["path"])
    expect("its line", True, place["line"] > 0)
    client.end()


def check_arms(asyncdbg, work):
    """The arms of select! and join!, each below a label."""
    client = open_core(asyncdbg, work, "selects")
    rows = client.stack(thread_of(client, "selects::select::three"))
    labels = [r["name"] for r in rows if r["presentationHint"] == "label"]
    for arm in range(3):
        expect_in("labels", f"select arm {arm}", " ".join(labels))
    expect("the outermost frame", "async selects::select::three", rows[-1]["name"])
    page = client.request("stackTrace", threadId=thread_of(client, "selects::select::three"),
                          startFrame=1, levels=2)
    expect("a page of the stack", [r["name"] for r in rows[1:3]], [r["name"] for r in page["stackFrames"]])
    expect("all rows", len(rows), page["totalFrames"])
    client.end()


def check_groups(asyncdbg, work):
    """More tasks than are listed, and a source map."""
    client = open_core(asyncdbg, work, "locals", maxTasks=3, sourceMap={"/src": "/elsewhere"})
    listed = [t for t in client.threads() if t["id"] > 1000000]
    if len(listed) > 3:
        raise Failure(f"{len(listed)} tasks are listed")
    client.wait_output("maxTasks", "console")
    frame = own_frame(client, listed[0]["id"])
    expect("its source", "/elsewhere/locals/src", str(pathlib.Path(frame["source"]["path"]).parent))
    client.end()


def check_memory(asyncdbg, work):
    """Memory, code, modules, completions and the custom requests."""
    client = open_core(asyncdbg, work, "locals")
    thread = thread_of(client, "locals::plain::sequences")
    frame = own_frame(client, thread)
    vector = next(v for v in client.locals(frame).values() if v.get("indexedVariables", 0) > 1)
    element = client.variables(vector["variablesReference"])["[0]"]
    reference = element["memoryReference"]
    got = client.request("readMemory", memoryReference=reference, count=8)
    expect("bytes", 8, len(base64.b64decode(got["data"])))
    expect("odd bytes", 5, len(base64.b64decode(client.request(
        "readMemory", memoryReference=reference, offset=1, count=5)["data"])))
    nothing = client.request("readMemory", memoryReference="0x10", count=16)
    expect("unreadable", (16, None), (nothing["unreadableBytes"], nothing.get("data")))
    client.refuse("readMemory", memoryReference="x", count=1)
    native = client.stack(client.threads()[0]["id"])[0]
    pc = native["instructionPointerReference"]
    code = client.request("disassemble", memoryReference=pc, instructionOffset=-2, instructionCount=5)
    addresses = [int(i["address"], 16) for i in code["instructions"]]
    expect("instructions", (5, int(pc, 16)), (len(addresses), addresses[2]))
    expect("ascending", sorted(addresses), addresses)
    expect("no code", 3, len(client.request("disassemble", memoryReference="0x10",
                                            instructionCount=3)["instructions"]))
    modules = client.request("modules")
    expect("modules", modules["totalModules"], len(modules["modules"]))
    expect("the executable", True, any(m["name"] == "locals.exe" or m["name"] == "locals"
                                       for m in modules["modules"]))
    names = [t["label"] for t in client.request("completions", text="ta", column=3)["targets"]]
    expect("commands", ["task", "tasks"], sorted(names))
    client.request("completions", text=vector["name"][:1], column=2, frameId=frame["id"])
    client.refuse("completions")
    expect("tasks", 24, len(client.request("asyncdbg/tasks")["document"]["tasks"]))
    expect("a limit", 2, len(client.request("asyncdbg/tasks", limit=2)["document"]["tasks"]))
    expect("a filter", 1, len(client.request("asyncdbg/tasks", filter={"id": "5"})["document"]["tasks"]))
    client.refuse("asyncdbg/tasks", filter={"no_field": "x"})
    expect("a tree", "5", client.request("asyncdbg/tree", task="5")["document"]["tasks"][0]["id"])
    client.refuse("asyncdbg/tree", task="999999")
    client.request("asyncdbg/graph")
    expect_in("findings", "findings", client.request("asyncdbg/check")["document"])
    client.end()


def check_snapshot(asyncdbg, work):
    """A saved snapshot has frames and texts of variables, and no memory."""
    saved = work / "locals.adbg"
    subprocess.run([asyncdbg, "-c", work / "locals.core", "--exe", work / "locals.exe", "save", "--values",
                    saved], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = Client([asyncdbg, "dap"])
    client.start("attach", snapshot=str(saved))
    client.event("stopped")
    frame = own_frame(client, thread_of(client, "locals::plain::texts"))
    found = client.locals(frame)
    if not any(v["value"].startswith('"') for v in found.values()):
        raise Failure(f"no texts: {found}")
    expect_in("an expression", "snapshot", client.refuse("evaluate", expression="x", context="watch",
                                                         frameId=frame["id"]))
    client.end()


# ---- clients that are wrong ----

def message(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)


INITIALIZE = message({"seq": 1, "type": "request", "command": "initialize",
                      "arguments": {"adapterID": "x"}})

BROKEN = {
    "nothing": b"",
    "a header alone": b"Content-Length: 10\r\n",
    "half a message": INITIALIZE + b"Content-Length: 1000\r\n\r\n{\"seq\":2",
    "no header": b"hello\r\n\r\n",
    "another field alone": b"Content-Type: x\r\n\r\n",
    "no length": b"Content-Length: \r\n\r\n{}",
    "a huge length": b"Content-Length: 99999999999999999999\r\n\r\n{}",
    "a negative length": b"Content-Length: -1\r\n\r\n{}",
    "a long header": b"X: " + b"y" * 10000 + b"\r\n\r\n",
    "line feeds alone": b"Content-Length: 2\n\n{}",
    "zeros": b"\0" * 1000,
}

WRONG = {
    "no JSON": b"{]",
    "nothing at all": b"",
    "a list": [],
    "a number": 7,
    "no command": {"seq": 2, "type": "request"},
    "a command that is a number": {"seq": 2, "type": "request", "command": 5},
    "a response": {"seq": 2, "type": "response", "request_seq": 1, "success": True, "command": "x"},
    "deep": b"[" * 100000,
    "NUL": b'{"seq":2,"type":"request","command":"thr\0eads"}',
    "bad UTF-8": b'{"seq":2,"type":"request","command":"\xff\xfe"}',
    "a bad escape": b'{"seq":2,"type":"request","command":"\\ud800\\x"}',
    "numbers": b'{"seq":1e99,"type":"request","command":"threads","arguments":{"x":-1.5e-300}}',
    "arguments of a wrong kind": {"seq": 2, "type": "request", "command": "stackTrace", "arguments": "x"},
}


def check_broken(asyncdbg):
    """Streams that cannot be read: the server ends."""
    for what, text in BROKEN.items():
        done = subprocess.run([asyncdbg, "dap"], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=LIMIT)
        if done.returncode not in (0, 2):
            raise Failure(f"{what}: exit code {done.returncode}: {done.stderr}")


def check_wrong(asyncdbg):
    """Messages that are no requests: the next one is answered."""
    for what, value in WRONG.items():
        client = Client([asyncdbg, "dap"])
        client.initialize()
        client.send_bytes(message(value))
        client.seq += 100
        expect_in(what, "no program", client.refuse("threads"))
        client.end()


def check_order(asyncdbg, work):
    """Requests at times when they make no sense."""
    client = Client([asyncdbg, "dap"])
    expect_in("before initialize", "initialize", client.refuse("threads"))
    client.initialize()
    expect_in("twice", "already", client.refuse("initialize", adapterID="x"))
    for command in ("threads", "stackTrace", "scopes", "variables", "setBreakpoints", "evaluate",
                    "continue", "pause", "configurationDone", "terminate"):
        expect_in(command, "no program", client.refuse(command))
    expect_in("unknown", "not supported", client.refuse("no/such"))
    expect_in("attach to nothing", "one of", client.refuse("attach"))
    expect_in("attach to two", "one of", client.refuse("attach", pid=1, core="x"))
    expect_in("no core", "No such file", client.refuse("attach", core="/nonexistent"))
    client.end()

    client = Client([asyncdbg, "dap"])
    client.initialize()
    expect_in("no program", "program", client.refuse("launch"))
    expect_in("args", "args", client.refuse("launch", program="/bin/true", args="x"))
    client.end()

    client = open_core(asyncdbg, work, "locals")
    for number in (0, -1, 999, 1000000, 1999999, 2000001, 2**31 - 1, 2**53):
        client.refuse("stackTrace", threadId=number)
        client.refuse("scopes", frameId=number)
        client.refuse("variables", variablesReference=number)
    client.refuse("stackTrace", threadId=1, startFrame=-1)
    client.refuse("configurationDone")
    expect("far behind the end", [], client.request("stackTrace", threadId=client.threads()[0]["id"],
                                                    startFrame=2**31 - 1)["stackFrames"])
    client.end()


def evaluate_there(client, frame, expression):
    return client.request("evaluate", expression=expression, frameId=frame, context="repl")["result"]


def check_console(asyncdbg, work):
    """In the console a variable wins over a command of its name, and a letter is no command."""
    client = open_core(asyncdbg, work, "locals")
    found = {}
    for thread in client.threads():
        for frame in client.stack(thread["id"]):
            for scope in client.request("scopes", frameId=frame["id"])["scopes"]:
                for variable in client.request("variables", variablesReference=scope["variablesReference"])["variables"]:
                    if variable["name"] in ("c", "n", "list", "set"):
                        found.setdefault(variable["name"], (frame["id"], variable["value"]))
    expect("variables", {"c", "n", "list", "set"}, set(found))
    for name, (frame, value) in found.items():
        expect(f"{name} in the console", value, evaluate_there(client, frame, f" {name} "))
    frame = found["list"][0]
    expect_in("a variable of a command's name", ":list", client.refuse(
        "evaluate", expression="list 1", frameId=frame, context="repl"))
    for words in ("runt", "as bt all", "runtimes; runt"):
        expect_in(f"{words}", "full name", client.refuse(
            "evaluate", expression=words, frameId=frame, context="repl"))
    for words in ("q", "k", "c"):
        client.refuse("evaluate", expression=words, context="repl")
    for words in (":quit", "quit", "exit", ":q"):
        expect_in(words, "Disconnect", client.refuse("evaluate", expression=words, context="repl"))
    for words in ("kill", ":k"):
        expect_in(words, "Stop", client.refuse("evaluate", expression=words, frameId=frame, context="repl"))
    expect_in("a shortened command behind a colon", "multi_thread", evaluate_there(client, frame, ": runt; tasks --limit 1"))
    client.end()


def relay_to(address, *, user=None):
    """A program that connects its standard streams to a server, as that user."""
    how = (f"s = socket.create_connection({address!r})\n" if isinstance(address, tuple) else
           f"s = socket.socket(socket.AF_UNIX); s.connect({address!r})\n")
    return [sys.executable, "-c",
            "import encodings.idna, os, socket, sys, threading\n" + (f"os.setuid({user})\n" if user else "") + how +
            "def up():\n"
            "    while data := sys.stdin.buffer.raw.read(4096): s.sendall(data)\n"
            "    s.shutdown(socket.SHUT_WR)\n"
            "threading.Thread(target=up, daemon=True).start()\n"
            "while data := s.recv(4096): sys.stdout.buffer.write(data); sys.stdout.buffer.flush()\n"]


def check_all_tasks(address, work, **more):
    client = Client(relay_to(address))
    client.start("attach", core=str(work / "locals.core"), program=str(work / "locals.exe"), **more)
    expect("tasks", 24, sum(t["id"] > 1000000 for t in client.threads()))
    client.end()


def check_socket(asyncdbg, work):
    """A Unix socket, which only its owner can connect to, and which is gone afterwards."""
    path = str(work / "dap.sock")
    with subprocess.Popen([asyncdbg, "dap", "--listen", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        expect_in("where it waits", path, server.stderr.readline().decode())
        expect("mode of the socket", 0o140600, os.stat(path).st_mode)
        check_all_tasks(path, work)
        expect("the server's end", 0, server.wait(LIMIT))
    expect("the socket is gone", False, os.path.exists(path))


def post(port, body):
    """What a web page can send: a first line with a colon and a body that is a message."""
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"POST /:x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        return s.recv(4096)


def check_stranger(address, made, **arguments):
    """A client of another user that does not know the token: nothing is executed for it."""
    client = Client(relay_to(address, user=12345))
    client.request("initialize", adapterID="x")
    for line in ("threads", "tasks", f"save {made}"):
        expect_in("a command", "token", client.refuse("evaluate", expression=line, context="repl"))
    expect_in("a launch", "token", client.refuse("launch", program="/usr/bin/touch", args=[str(made)], **arguments))
    while client.take():
        pass
    client.process.kill()
    expect("a file of a stranger", False, made.exists())


def check_strangers(asyncdbg, work):
    """A client of another user executes nothing before it has shown the token."""
    if os.getuid() != 0:
        print("strangers: left out")
        return
    server = subprocess.Popen([asyncdbg, "dap", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        port = int(server.stderr.readline().split()[-1])
        token = server.stderr.readline().decode().split('"')[3]
        body = json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": {}}).encode()
        expect("an answer to HTTP", b"", post(port, body))
        address = ("127.0.0.1", port)
        for arguments in ({}, {"token": ""}, {"token": "0" * len(token)}, {"token": 5}):
            check_stranger(address, work / "made", **arguments)
        silent = Client(relay_to(address, user=12345))  # it never sends anything
        idle = Client(relay_to(address, user=12345))  # it never shows the token
        idle.request("initialize", adapterID="x")
        client = Client(relay_to(address, user=12345))
        client.start("attach", core=str(work / "locals.core"), program=str(work / "locals.exe"), token=token)
        for other in (silent, idle):
            other.process.kill()
        expect("tasks", 24, sum(t["id"] > 1000000 for t in client.threads()))
        client.end()
        expect("the server's end", 0, server.wait(LIMIT))
    finally:
        server.kill()
        server.wait()


def check_port(asyncdbg, work):
    """A port of this machine, and of no other."""
    for address in ("0.0.0.0:0", "192.0.2.1:0", "x", "127.0.0.1:99999", ":1"):
        done = subprocess.run([asyncdbg, "dap", "--listen", address], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        expect(f"--listen {address}", 64, done.returncode)
    with subprocess.Popen([asyncdbg, "dap", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        port = int(server.stderr.readline().split()[-1])
        with socket.create_connection(("127.0.0.1", port)):  # it sends nothing, and keeps nobody out
            check_all_tasks(("127.0.0.1", port), work)
        expect("the server's end", 0, server.wait(LIMIT))


def test(asyncdbg, work):
    work = pathlib.Path(work)
    check_broken(asyncdbg)
    check_wrong(asyncdbg)
    check_order(asyncdbg, work)
    check_core(asyncdbg, work)
    check_values(asyncdbg, work)
    check_functions(asyncdbg, work)
    check_arms(asyncdbg, work)
    check_groups(asyncdbg, work)
    check_memory(asyncdbg, work)
    check_snapshot(asyncdbg, work)
    check_console(asyncdbg, work)
    check_port(asyncdbg, work)
    check_socket(asyncdbg, work)
    check_strangers(asyncdbg, work)
    print("dap: all as it should be")


test(*sys.argv[1:])
