#!/usr/bin/env python3
"""Traces real servers from their first spawn, and compares with what is seen of them at rest.

usage: run_trace_servers.py ASYNCDBG PROFILE

Each server of testdata/servers is started by `trace` and holds still at a moment. The tasks that the
trace takes for alive are those of a snapshot and of a core, with the same types, and each idle one
sleeps where its last poll ended by the trace. Ends with 77 where there is no cargo, and where the kernel
refuses probes.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import run_servers
import run_trace
from run_servers import Failure, ask, build
from harness.checks import failed

WAIT = 120  # seconds for each step


class Traced:
    """A server that `trace` has started."""

    def __init__(self, asyncdbg, path, output, options):
        command = [asyncdbg, "--jsonl", "trace", "-o", output, *options, "--", str(path)]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        self.expect("ready")
        with open(output, encoding="utf-8") as file:
            self.pid = str(json.loads(file.readline())["target"]["pid"])

    def expect(self, last):
        for line in self.child.stdout:
            if line.split()[:1] == [last]:
                return
        message = self.child.stderr.read()
        if "probes are not available" in message or "refused" in message:
            print(f"left out: {message.strip()}")
            sys.exit(77)
        raise Failure(f"ended before it printed {last}: {message}")

    def close(self):
        """The server ends with its input."""
        self.child.stdin.close()
        self.child.stdout.read()

    def say(self, word):
        self.child.stdin.write(word + "\n")
        self.child.stdin.flush()

    def end_trace(self):
        self.child.send_signal(signal.SIGINT)
        if self.child.wait(WAIT) != 0:
            raise Failure(f"trace: {self.child.stderr.read()}")


def read_trace(output):
    """Types of the tasks that are alive at the end, and the chain in which each sleeps."""
    with open(output, encoding="utf-8") as file:
        head, *rows, end = map(json.loads, file)
    if head["missing"] or end["lost"] or end["unmatched"]:
        raise Failure(f"missing {head['missing']}, at the end {end}")
    places, alive, sleeps = {}, {}, {}
    for row in rows:
        if "frames" in row:
            places[row["place"]] = [(frame["function"], frame["line"]) for frame in row["frames"]]
        elif row["event"] == "task-spawn" and row["kind"] == "task":
            alive[row["task"]] = row["type"]
        elif row["event"] == "task-terminate":
            alive.pop(row["task"], None)
        elif row["event"] == "task-poll-end":
            sleeps[row["task"]] = places.get(row["place"])
    return alive, sleeps


def chain(future):
    frames = []
    while future:
        frames.append((future.get("function"), future.get("line")))
        future = future["children"][0] if future["children"] else None
    return frames


def compare(what, document, alive, sleeps):
    tasks = {task["id"]: task for task in document["tasks"] if task["state"] != "complete"}
    if {id: task["type"] for id, task in tasks.items()} != alive:
        raise Failure(f"{what}: alive by the trace only {sorted(set(alive) - set(tasks))}, only there "
                      f"{sorted(set(tasks) - set(alive))}, or types differ")
    idle = [task for task in tasks.values() if task["state"] == "idle"]
    for task in idle:
        slept, seen = sleeps[task["id"]], chain(task["root"])
        if not slept or not set(slept) <= set(seen):
            raise Failure(f"{what}: task {task['id']} sleeps in {slept} by the trace, in {seen} at rest")
    return len(idle)


def check_server(asyncdbg, schema, path, work, options):
    output = f"{work}/trace.jsonl"
    server = Traced(asyncdbg, path, output, options)
    try:
        return look_at(asyncdbg, schema, server, work, output)
    finally:
        server.close()


def check_perfetto(asyncdbg, server, work):
    """A trace for Perfetto of a part of the load, beside the other trace."""
    file = f"{work}/part.pftrace"
    subprocess.run([asyncdbg, "-p", server.pid, "trace", "--duration", "300ms", "-o", file],
                   stderr=subprocess.DEVNULL, timeout=WAIT)
    run_trace.decode_perfetto(file, open_flows=100)
    if failed():
        raise Failure("its trace for Perfetto is wrong")


def look_at(asyncdbg, schema, server, work, output):
    check_perfetto(asyncdbg, server, work)
    server.say("hold")
    server.expect("held")
    live = ask(asyncdbg, schema, "-p", server.pid)
    subprocess.run(["gcore", "-o", f"{work}/core", server.pid], check=True, capture_output=True)
    dead = ask(asyncdbg, schema, "-c", f"{work}/core.{server.pid}")
    server.end_trace()
    alive, sleeps = read_trace(output)
    return compare("live", live, alive, sleeps), compare("core", dead, alive, sleeps)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    asyncdbg, profile = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    options = ["--allow-slow"] if profile == "debug" else []
    schema = json.loads((run_servers.TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
    directory = Path(os.environ["BINARIES"]) if "BINARIES" in os.environ else build(profile, run_servers.SERVERS)
    failures = 0
    for name in run_servers.SERVERS:
        with tempfile.TemporaryDirectory() as work:
            try:
                idle, dead = check_server(asyncdbg, schema, directory / name, work, options)
                print(f"{name} ({profile}): ok, {idle} tasks sleep as traced, {dead} in the core")
            except Failure as failure:
                print(f"{name} ({profile}): {failure}")
                failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
