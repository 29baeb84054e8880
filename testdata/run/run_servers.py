#!/usr/bin/python3
"""Attaches asyncdbg to real servers, mini-redis and axum, under load and at rest.

usage: run_servers.py ASYNCDBG PROFILE [SERVER...]

Under load: every answer fits the schema, no future is in a state that a task that goes on cannot be
in, and every suspended coroutine has its file and line. At rest, live and from a core: the number
of tasks is what the runtime's own metrics say, and nothing is missing. The server must go on.

Leaves whose wait has no name are counted and listed by type; there must be none. Where the
truth has pools, each task that waits for one must show who has its connections.

Exit status 77 where there is no cargo.
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

from harness.checks import Failure

TESTDATA = Path(__file__).resolve().parents[1]
SERVERS = ["mini_redis_load", "axum_load"]
LOOKS = 10
# Kinds of a wait that name no object.
NAMELESS = ("unknown", "waker", "nothing")


def build(profile, servers):
    """Directory of the executables."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", tempfile.gettempdir() + "/asyncdbg-programs"))
    target = target / "servers"
    command = ["cargo", "build", "--locked", "--quiet", "--target-dir", str(target)]
    command += ["--release"] if profile == "release" else []
    for server in servers:
        command += ["-p", server]
    env = dict(os.environ, CARGO_PROFILE_RELEASE_DEBUG="2")
    subprocess.run(command, cwd=TESTDATA / "servers", env=env, check=True)
    return target / profile


def ask(asyncdbg, schema, *arguments, command=("async", "backtrace", "all")):
    """The document that asyncdbg prints, validated. Of the tasks those that are no jobs."""
    run = subprocess.run(
        [asyncdbg, "--no-cache", *arguments, "--json", *command],
        capture_output=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise Failure(f"asyncdbg ended with {run.returncode}: {run.stderr.decode()}")
    document = json.loads(run.stdout)
    jsonschema.validate(document, schema)
    document["tasks"] = [row for row in document["tasks"] if row["kind"] == "task"]
    return document


def futures(future):
    if future:
        yield future
        for child in future["children"]:
            yield from futures(child)


def roots(document):
    for task in document["tasks"]:
        yield f"task {task['id']}", task["state"], task["root"]
    for thread in document["threads"]:
        yield f"thread {thread['number']}", "block_on", thread["root"]


def check_futures(document):
    """Every future is in a state that it can be in, and says where it is suspended."""
    for who, state, root in roots(document):
        for future in futures(root):
            what = f"{who}: {future['function']}"
            if future["state"] == "panicked":
                raise Failure(f"{what} is said to have panicked")
            if future["state"] == "suspended" and not (future["file"] and future["line"]):
                raise Failure(f"{what} is suspended without a line")
            if state == "idle" and future is root and future["state"] in ("unresumed", "returned"):
                raise Failure(f"{what} is {future['state']} in an idle task")


def check_rest(document, truth, what):
    tasks = len(document["tasks"])
    if tasks != truth["num_alive_tasks"]:
        raise Failure(f"{what}: {tasks} tasks, the runtime counts {truth['num_alive_tasks']}")
    if not document["complete"]:
        raise Failure(f"{what}: not complete: {document['notes']}")
    check_futures(document)


def polled_leaves(future):
    """The futures at the ends of a tree that their parents poll."""
    children = [child for child in future["children"] if child.get("branch", "polled") == "polled"]
    if not children:
        yield future
    for child in children:
        yield from polled_leaves(child)


def count_leaves(document):
    """The leaves of idle tasks: the nameless ones by kind and type, the others by kind."""
    unnamed = collections.Counter()
    named = collections.Counter()
    for _, state, root in roots(document):
        if not root or state != "idle":
            continue
        for leaf in polled_leaves(root):
            kind = (leaf["wait"] or {}).get("kind", "unknown")
            if kind in NAMELESS:
                unnamed[f"{kind}: {leaf['type']}"] += 1
            else:
                named[kind] += 1
    return unnamed, named


def check_leaves(documents, what):
    """Prints how many leaves have no named wait, and their types. False when there are any."""
    unnamed = collections.Counter()
    named = collections.Counter()
    for document in documents:
        counts = count_leaves(document)
        unnamed.update(counts[0])
        named.update(counts[1])
    kinds = ", ".join(f"{count} {kind}" for kind, count in named.most_common())
    print(f"{what}: {sum(unnamed.values())} unnamed leaves; named: {kinds or 'none'}")
    for name, count in unnamed.most_common():
        print(f"    {count} {name}")
    return not unnamed


def holders_of_pool(document, number):
    """Who has what the task's wait for a pool waits for: set of (task, path)."""
    task = next(task for task in document["tasks"] if int(task["id"]) == number)
    waits = [future["wait"] for future in futures(task["root"])]
    pools = {wait["object"] for wait in waits if wait and wait["kind"] == "pool"}
    if len(pools) != 1:
        raise Failure(f"task {number} waits for {len(pools)} pools")
    found = [h for h in document["holdings"] if h["role"] == "lock" and h["object"] in pools]
    return {(int(h["task"] or 0), h["path"]) for h in found}


def check_pools(asyncdbg, schema, truth, what, *arguments):
    """Each waiter of each exhausted pool shows the tasks and variables that have connections."""
    for pool in truth.get("pools", []):
        want = {(holder["task"], holder["path"]) for holder in pool["holders"]}
        for waiter in pool["waiters"]:
            command = ("async", "task", str(waiter))
            document = ask(asyncdbg, schema, *arguments, command=command)
            found = holders_of_pool(document, waiter)
            if found != want:
                raise Failure(f"{what}: task {waiter} waits for {found}, not for {want}")


def shape(document):
    """What must be the same live and from a core."""

    def strip(future):
        keys = ("kind", "function", "type", "state", "await_point", "file", "line", "addr", "edge")
        if future:
            return [[future[key] for key in keys], [strip(c) for c in future["children"]]]
        return None

    return [(t["id"], t["state"], strip(t["root"])) for t in document["tasks"]]


class Server:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = str(self.process.pid)
        self.expect("ready")

    def expect(self, word):
        """Waits for a line that starts with word; the truth behind it, or on the next line."""
        for line in self.process.stdout:
            text = line.decode().strip()
            if not text.startswith(word):
                continue
            rest = text[len(word) :].strip() or (
                "" if word == "going" else self.process.stdout.readline().decode()
            )
            return json.loads(rest) if rest else None
        raise Failure(f"it ended before it said {word}")

    def say(self, word):
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def check_server(asyncdbg, schema, path, work):
    server = Server(path)
    try:
        looks = [ask(asyncdbg, schema, "-p", server.pid) for _ in range(LOOKS)]
        for document in looks:
            check_futures(document)
        named = check_leaves(looks, f"{path.name} in {LOOKS} looks under load")
        server.say("hold")
        truth = server.expect("held")
        live = ask(asyncdbg, schema, "-p", server.pid)
        check_rest(live, truth, "live")
        named &= check_leaves([live], f"{path.name} at rest")
        check_pools(asyncdbg, schema, truth, "live", "-p", server.pid)
        core = f"{work}/core"
        subprocess.run(["gcore", "-o", core, server.pid], check=True, capture_output=True)
        dead = ask(asyncdbg, schema, "-c", f"{core}.{server.pid}")
        check_pools(asyncdbg, schema, truth, "core", "-c", f"{core}.{server.pid}")
        os.unlink(f"{core}.{server.pid}")
        check_rest(dead, truth, "core")
        if shape(live) != shape(dead):
            raise Failure("the core's answer differs from the live one")
        server.say("go")
        server.expect("going")
        check_futures(ask(asyncdbg, schema, "-p", server.pid))
        if not named:
            raise Failure("leaves without a name")
        return len(live["tasks"])
    finally:
        server.close()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    asyncdbg, profile = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    servers = sys.argv[3:] or SERVERS
    schema = json.loads((TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
    directory = build(profile, servers)
    failures = 0
    for name in servers:
        with tempfile.TemporaryDirectory() as work:
            try:
                tasks = check_server(asyncdbg, schema, directory / name, work)
                print(f"{name} ({profile}): ok, {tasks} tasks")
            except Failure as failure:
                print(f"{name} ({profile}): {failure}")
                failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
