#!/usr/bin/env python3
"""Debugs real servers, axum and mini-redis, while clients load them: logpoints and conditions count
each request, --production writes nothing into their code, steps end where they should, and no request is lost.

usage: run_step_servers.py ASYNCDBG PROFILE [CHECK...]

Builds the servers in PROFILE; BINARIES=DIR uses those that are built already. Exit status 77 where there is no
cargo.
"""
import collections
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from run_servers import Server, build
from harness.checks import Failure, expect, expect_in
from harness.session import LIMIT, Ended, Hung, Session

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
LINES = 200         # of a logpoint, at least
OURS = 1000000      # numbers of our own requests begin here
REQUESTS = 40       # of our own
NOT_PERMITTED = "no hardware breakpoint"
SERVERS = ("axum_load", "mini_redis_load")
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def line_of(text, server="axum_load"):
    lines = (TESTDATA / "servers" / server / "src/main.rs").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def place(stop):
    return (pathlib.PurePath(stop["file"] or "").name, stop["line"])


# ---- clients of our own ----


class Http:
    """A request has a number, and so has its answer."""
    path = "item"

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), LIMIT)
        self.file = self.socket.makefile("rb")

    def request(self, number):
        self.socket.sendall(f"GET /{self.path}/{OURS + number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = dict(line.split(b": ") for line in self.lines() if b": " in line)
        length = next(int(value) for key, value in head.items() if key.lower() == b"content-length")
        expect("an answer", f"item {OURS + number}", self.file.read(length).decode())

    def lines(self):
        """Up to an empty one, or to the end of the connection."""
        return itertools.takewhile(lambda line: line not in (b"", b"\r\n"), iter(self.file.readline, None))

    def close(self):
        self.file.close()
        self.socket.close()


class Spawned(Http):
    """The same, of the handler that spawns; each client has numbers of its own."""
    path = "spawned"

    def __init__(self, port, first):
        super().__init__(port)
        self.first = first

    def request(self, number):
        super().request(self.first + number)


class Redis(Http):
    """A request sets a key that others do not use and gets it."""

    def ask(self, *words):
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        self.socket.sendall(text.encode())
        line = self.file.readline().decode().strip()
        return self.file.read(int(line[1:]) + 2).decode().strip() if line[0] == "$" else line

    def request(self, number):
        expect("an answer to set", "+OK", self.ask("set", f"mine-{number % 8}", str(number)))
        expect("an answer to get", str(number), self.ask("get", f"mine-{number % 8}"))


CLIENTS = {"axum_load": Http, "mini_redis_load": Redis}


class Requests(threading.Thread):
    """So many requests of a new connection, beside the test."""

    def __init__(self, client, count=REQUESTS):
        super().__init__()
        self.client, self.count, self.wrong = client, count, None
        self.start()

    def run(self):
        try:
            for number in range(self.count):
                self.client.request(number)
        except (Failure, OSError, ValueError, IndexError, StopIteration) as wrong:
            self.wrong = wrong
        self.client.close()

    def finish(self):
        self.join(LIMIT)
        expect("our own requests", (False, None), (self.is_alive(), self.wrong))


# ---- a server with asyncdbg ----


class Loaded(Server):
    """A server under load; its clients can be held."""

    def __init__(self, programs, name):
        self.name, self.path = name, programs / name
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.timer = threading.Timer(LIMIT, self.process.kill)
        self.timer.start()
        self.pid = str(self.process.pid)
        self.port = self.expect("ready")["port"]
        self.answered = self.hold()

    def hold(self):
        self.say("hold")
        return self.expect("held")["answered"]

    def go(self):
        self.say("go")
        self.expect("going")

    def numbers(self, before, after):
        """What the handler was called with meanwhile, as its values are shown."""
        for client, (begin, end) in enumerate(zip(before, after)):
            for number in range(begin + 1, end + 1):
                if self.name == "mini_redis_load":
                    yield f'"client-{client}-{number % 8}"'
                elif number % 5:
                    yield str(number)

    def client(self):
        return CLIENTS[self.name](self.port)

    def check_code(self, what):
        """All code in its memory is what the files have."""
        with open(f"/proc/{self.pid}/mem", "rb") as memory, open(f"/proc/{self.pid}/maps") as maps:
            for line in maps:
                found = re.match(r"(\w+)-(\w+) r-xp (\w+) \S+ [1-9]\d* +(/.*)$", line)
                if found:
                    start, end, offset = (int(text, 16) for text in found.groups()[:3])
                    memory.seek(start)
                    with open(found.group(4), "rb") as file:
                        file.seek(offset)
                        code = file.read(end - start)
                    expect(f"{what}: code of {found.group(4)}", True, memory.read(len(code)) == code)

    def check_free(self, what):
        """Nobody traces it, its code is that of the files, and it answers all requests."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        expect(f"{what}: tracer", "0", re.search(r"^TracerPid:\s*(\d+)", status, re.M).group(1))
        self.check_code(what)
        before = self.hold()
        self.go()
        Requests(self.client()).finish()
        after = self.hold()
        expect(f"{what}: clients that go on", [True] * len(before), [a > b for a, b in zip(after, before)])

    def close(self):
        self.timer.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Debugged:
    """A debugged server whose clients are held."""

    def __init__(self, asyncdbg, programs, name, attach="attach"):
        self.server = Loaded(programs, name)
        self.session = Session(asyncdbg, "-p", self.server.pid)
        stop = self.session.ask(attach)["stopped"]
        expect(attach, "attached", stop["reason"])

    def ask(self, command):
        return self.session.ask(command)

    def stop(self, command="continue"):
        return self.ask(command)["stopped"]

    def cont(self, go=True):
        """Lets the program run, and its clients."""
        self.session.send("continue")
        if go:
            self.server.go()

    def halt(self):
        """Holds the clients and stops the program; what was logged meanwhile."""
        after = self.server.hold()
        self.session.process.send_signal(signal.SIGINT)
        logged = list(iter(lambda: self.session.answer().get("logged"), None))
        return after, logged

    def hits(self):
        return [row["hits"] for row in self.ask("info breakpoints")["breakpoints"]]

    def detach(self):
        self.session.send("detach")
        self.session.end()
        self.server.check_free("detached")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()
        self.server.close()


# Of each server a function that each request calls, and what tells its requests apart.
HANDLERS = {"axum_load": ("axum_load::look_up", "number", f"number >= {OURS + 8} && number < {OURS + 13}"),
            "mini_redis_load": ("mini_redis::db::Db::get", "key", 'key == "mine-3"')}


# ---- counts ----


@check
def logpoints(asyncdbg, programs, name):
    """A line for each request, with its value."""
    function, path, _ = HANDLERS[name]
    with Debugged(asyncdbg, programs, name) as d:
        d.ask(f"logpoint {function} 'got {{{path}}}'")
        d.ask(f"logpoint {function} --every 10 'each tenth'")
        d.cont()
        lines = [d.session.answer()["logged"] for _ in range(LINES)]
        after, rest = d.halt()
        lines += rest
        wanted = collections.Counter(d.server.numbers(d.server.answered, after))
        got = collections.Counter(line["text"][4:] for line in lines if line["number"] == 1)
        expect("lines that are missing, or too many", ([], []),
               (list((wanted - got).elements())[:5], list((got - wanted).elements())[:5]))
        count = sum(wanted.values())
        expect("each tenth", count // 10, sum(line["number"] == 2 for line in lines))
        expect("hits", [count, count], d.hits())
        d.ask("delete")
        d.detach()


@check
def conditions(asyncdbg, programs, name):
    """A condition is true for some requests of ours; all others pass."""
    function, path, condition = HANDLERS[name]
    with Debugged(asyncdbg, programs, name) as d:
        d.ask(f"break {function} if {condition}")
        d.cont()
        requests = Requests(d.server.client())
        for _ in range(5):
            stop = d.session.answer()["stopped"]
            expect("stop", ("breakpoint", None), (stop["reason"], stop["problem"]))
            d.session.send("continue")
        requests.finish()
        _, logged = d.halt()
        expect("more of it", ([], [5]), (logged, d.hits()))
        d.ask("delete")
        d.detach()


# ---- without a write to its code ----


@check
def production(asyncdbg, programs, name):
    """Breakpoints of the processor: each hit stops, four are all, and kill -9 leaves nothing behind."""
    function = HANDLERS[name][0]
    with Debugged(asyncdbg, programs, name, "attach --production") as d:
        d.ask(f"break {function}")
        d.server.check_code("one breakpoint")
        d.server.say("go")
        for number in range(1, 6):
            stop = d.stop()
            expect("stop", ("breakpoint", [1]), (stop["reason"], stop["breakpoints"]))
            frames = [frame["function"] for frame in d.ask("bt")["threads"][0]["frames"]]
            expect_in("bt", function, frames[0])
            expect("hits", [number], d.hits())
        d.server.check_code("at a stop")
        d.session.send("continue")
        # Not after "going": the next hit may come before that.
        d.session.process.kill()
        d.session.process.wait()
        d.server.expect("going")
        d.server.check_free("killed")


@check
def started(asyncdbg, programs, name):
    """The same where asyncdbg starts it; a breakpoint too many is refused."""
    function = HANDLERS[name][0]
    commands = [f"break {function}", f"run --production -- {programs / name}", "info breakpoints",
                *[f"break main.rs:{line_of(text, name)}" for text in ("fn main()", "async fn connect()")],
                "break load::run_with", "break load::wait_until", "break load::truth_of"]
    with tempfile.NamedTemporaryFile("w", suffix=".x") as script, subprocess.Popen(
            ["sleep", str(LIMIT)], stdout=subprocess.PIPE) as silence:
        script.write("\n".join(commands) + "\n")
        script.flush()
        done = subprocess.run([asyncdbg, "--jsonl", "-x", script.name], stdin=silence.stdout, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
        silence.kill()
    if NOT_PERMITTED in done.stderr:
        raise Ended(done.stderr)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"schema"')]
    expect("stop", [("breakpoint", [1])],
           [(a["stopped"]["reason"], a["stopped"]["breakpoints"]) for a in answers if "stopped" in a])
    rows = next(a["breakpoints"] for a in answers if a["command"] == "info breakpoints")
    expect("hits", [1], [row["hits"] for row in rows])
    expect_in("one too many", "all 4 hardware breakpoints of this CPU are in use", done.stderr)


# ---- steps ----


def is_optimised(programs):
    return programs.name == "release"


def same(what, before, after, reason, where=None):
    """A step has ended in the task in which it began."""
    expect(what, (reason, before["task"]), (after["reason"], after["task"]))
    if where:
        expect(what, where, place(after))


def come_to(d, where, count):
    """Lets the clients run, and some requests of our own, to a breakpoint for once."""
    d.ask(f"tbreak {where}")
    d.server.say("go")
    requests = Requests(d.server.client(), count)
    stop = d.stop()
    expect(where, "breakpoint", stop["reason"])
    return stop, requests


def leave(d, requests):
    """All requests are answered, and the process is let go."""
    d.session.send("continue")
    d.server.expect("going")
    requests.finish()
    d.halt()
    d.detach()


AXUM_SLEEPS, AXUM_RETURNS = (("main.rs", line_of(text)) for text in ("sleep(Duration::from_millis(3))", "format!("))


def step_axum(d, optimised):
    stop, requests = come_to(d, f"axum_load::look_up if number >= {OURS}", 3)
    expect("its first line", AXUM_SLEEPS, place(stop))
    same("next", stop, d.stop("next"), "step", AXUM_RETURNS)
    for command in ("stepi 10", "nexti 3"):
        same(command, stop, d.stop(command), "stepped")
    d.ask(f"tbreak axum_load::look_up if number == {OURS + 1}")
    stop = d.stop()
    same("until", stop, d.stop("until"), "step", AXUM_RETURNS)
    after = d.stop("finish")
    if not optimised:  # what is inlined is left, and what it was ready with is not known
        same("finish", stop, after, "returned", ("main.rs", line_of("look_up(number).await")))
        expect("value", f'"item {OURS + 1}"', after["step"]["value"])
    d.ask(f"tbreak axum_load::look_up if number == {OURS + 2}")
    stop = d.stop()
    after = d.stop("finish --whole")
    same("finish --whole", stop, after, "returned")
    expect("finish --whole", "its task has finished", after["step"]["note"])
    leave(d, requests)


def step_redis(d, optimised):
    stop, requests = come_to(d, 'mini_redis::db::Db::get if key == "mine-0"', 3)
    after = d.stop("finish")
    same("finish", stop, after, "returned")
    expect("finish", "get.rs", place(after)[0])
    if not optimised:  # the call may be the last instruction of its line
        expect("finish", (66, 'Some(b"0")'), (after["line"], after["step"]["value"]))
    for command in ("stepi 5", "nexti 3"):
        same(command, stop, d.stop(command), "stepped")
    after = d.stop("next")
    same("next", stop, after, "step")
    expect("next", "get.rs", place(after)[0])
    d.ask('tbreak mini_redis::db::Db::get if key == "mine-2"')
    stop = d.stop()
    if not optimised:  # no place of the poll's argument is left
        after = d.stop("finish --whole")
        same("finish --whole", stop, after, "returned")
        expect("finish --whole", "its task has finished", after["step"]["note"])
    leave(d, requests)


@check
def steps(asyncdbg, programs, name):
    """Steps from a handler under load end at their line, in their task."""
    with Debugged(asyncdbg, programs, name) as d:
        (step_axum if name == "axum_load" else step_redis)(d, is_optimised(programs))


@check
def into_called(asyncdbg, programs, name):
    """`step` ends at the first line of what is awaited or called, inlined or not, and in no library."""
    with Debugged(asyncdbg, programs, name) as d:
        if name == "axum_load":
            stop, requests = come_to(d, f"main.rs:{line_of('look_up(number).await')}", 3)
            after = d.stop("step")
            same("step", stop, after, "step", AXUM_SLEEPS)
            same("next", stop, d.stop("next"), "step", AXUM_RETURNS)
        else:
            stop, requests = come_to(d, "mini_redis::cmd::get::Get::apply", 3)
            after = d.stop("step")
            same("step", stop, after, "step")
            expect("step", ("db.rs", "mini_redis::db::Db::get"), (place(after)[0], after["function"]))
            after = d.stop("next")
            same("next", stop, after, "step")
            expect("next", "db.rs", place(after)[0])
        leave(d, requests)


@check
def into_spawned(asyncdbg, programs, name):
    """`step --spawned` goes into the task that the line has spawned, among others of its kind."""
    if name != "axum_load":
        return
    with Debugged(asyncdbg, programs, name) as d:
        spawns = line_of("tokio::spawn(look_up(number))")
        others = [Requests(Spawned(d.server.port, 1000 * n)) for n in range(1, 5)]
        d.ask(f"tbreak main.rs:{spawns} if number < {OURS + 1000}")
        requests = Requests(Spawned(d.server.port, 0), 6)
        for number in range(6):
            before = d.stop()
            expect("the line", ("main.rs", spawns), place(before))
            after = d.stop("step --spawned")
            expect("step --spawned", ("step", AXUM_SLEEPS, None),
                   (after["reason"], place(after), after["step"]["note"]))
            expect("in another task", True, after["task"] not in (None, before["task"]))
            expect("in that task", f'"item {OURS + number}"', d.stop("finish")["step"]["value"])
            d.ask(f"tbreak main.rs:{spawns} if number == {OURS + number + 1}")
        d.ask("delete")
        d.session.send("continue")
        for each in [requests, *others]:
            each.finish()
        d.session.process.send_signal(signal.SIGINT)
        d.session.answer()
        d.detach()


@check
def into_one_line(asyncdbg, programs, name):
    """`step --spawned` ends in a block that has no line of its own, too."""
    if name != "axum_load":
        return
    line = line_of("async move { axum::serve")
    session = Session(asyncdbg)
    try:
        session.ask(f"tbreak main.rs:{line}")
        expect("the line", ("main.rs", line), place(session.ask(f"run -- {programs / name}")["stopped"]))
        stop = session.ask("step --spawned")["stopped"]
        expect("step --spawned", ("step", ("main.rs", line), "axum_load::connect::{async_fn#0}::{async_block#0}"),
               (stop["reason"], place(stop), stop["function"]))
    finally:
        session.close()


def watch_counter(d):
    """A client counts its requests in its own future, which lasts: what is in that of a request need not be
    written again."""
    d.session.send("tasks --with function ^load::drive$ --limit 1")
    d.session.answer()
    task = json.loads(d.session.process.stdout.readline())["id"]
    d.ask(f"task {task}")
    d.ask("frame 0")
    row = d.ask("watch iter.start")["watchpoints"][0]
    d.server.say("go")
    return row["value"], Requests(d.server.client(), 3)


def watch_next_id(d):
    """The number of the next set."""
    _, requests = come_to(d, "mini_redis::db::Db::set", 3)
    return d.ask("watch self.shared.state.next_id")["watchpoints"][0]["value"], requests


@check
def watched(asyncdbg, programs, name):
    """Each change of a value stops, and none is lost: it grows by one."""
    with Debugged(asyncdbg, programs, name) as d:
        value, requests = (watch_counter if name == "axum_load" else watch_next_id)(d)
        for _ in range(10):
            stop = d.stop()
            expect("stop", "watchpoint", stop["reason"])
            seen = stop["watchpoint"]
            expect("values", (value, str(int(value) + 1)), (seen["old"], seen["new"]))
            value = seen["new"]
        d.ask("delete")
        leave(d, requests)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    asyncdbg, profile, *names = sys.argv[1:]
    binaries = os.environ.get("BINARIES")
    if not binaries and not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    programs = pathlib.Path(binaries) if binaries else build(profile, SERVERS)
    failed = 0
    for function in CHECKS:
        for name in SERVERS:
            if names and function.__name__ not in names:
                continue
            try:
                function(asyncdbg, programs, name)
            except Ended as wrong:
                left_out = NOT_PERMITTED in str(wrong)
                failed += not left_out
                print(f"{function.__name__}, {name}: {'left out' if left_out else 'ended'}: {wrong}", flush=True)
            except (Failure, Hung, KeyError, OSError, subprocess.TimeoutExpired) as wrong:
                failed += 1
                print(f"{function.__name__}, {name}: {type(wrong).__name__}: {wrong}", flush=True)
    print("servers, steps: all as it should be" if not failed else f"{failed} checks failed")
    sys.exit(failed > 0)


main()
