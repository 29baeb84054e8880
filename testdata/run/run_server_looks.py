#!/usr/bin/python3
"""Looks at a server under load again and again.

usage: run_server_looks.py [--looks N] [--tasks N] ASYNCDBG EXECUTABLE [ARGUMENT...]

Each look asks for all trees, and for verdicts: each leaf must have a name, and no verdict may be
given, and no task may be listed twice. Tasks that are missing because a thread was between two of them are
counted. A complete look has at least as many tasks as --tasks says. The server must have answered more
requests in the end.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

TESTDATA = Path(__file__).resolve().parents[1]
NEVER = "deadlock,futurelock,no-waker,closed-channel-wait"
NAMELESS = {"unknown", "waker", "nothing", "empty"}


def leaves(future):
    """The leaves that are polled."""
    children = [child for child in future["children"] if child.get("branch") in (None, "polled")]
    if not children:
        yield future
    for child in children:
        yield from leaves(child)


class Looks:
    """What was found in all looks."""

    def __init__(self, asyncdbg, pid, least):
        self.least = least
        self.command = [asyncdbg, "-p", str(pid), "--json"]
        self.schema = json.loads((TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
        self.waits = collections.Counter()
        self.bad = collections.Counter()
        self.notes = collections.Counter()
        self.counts = []
        self.tasks = self.complete = 0

    def ask(self, *words):
        done = subprocess.run(
            self.command + list(words), capture_output=True, timeout=120, check=False
        )
        try:
            document = json.loads(done.stdout)
            jsonschema.validate(document, self.schema)
        except (ValueError, jsonschema.ValidationError) as err:
            sys.exit(f"{' '.join(words)} ends with {done.returncode}: {done.stderr} {err}")
        return document

    def trees(self):
        document = self.ask("async", "backtrace", "all")
        self.complete += document["complete"]
        if document["complete"] and len(document["tasks"]) < self.least:
            self.bad[f"less than {self.least} tasks"] += 1
        self.notes.update(document["notes"])
        for key in ("id", "addr"):
            same = collections.Counter(task[key] for task in document["tasks"] if task[key])
            if any(count > 1 for count in same.values()):
                self.bad[f"tasks of the same {key}"] += 1
        self.counts.append(len(document["tasks"]))
        for task in document["tasks"]:
            self.tasks += 1
            if task.get("problem"):
                self.bad[f"a task: {task['problem']}"] += 1
            for leaf in leaves(task["root"]) if task.get("root") else []:
                self.leaf(task, leaf)

    def leaf(self, task, leaf):
        wait = leaf.get("wait")
        if wait:
            self.waits[wait["kind"]] += 1
        elif task["state"] == "idle":
            self.bad[f"a leaf without a wait: {leaf['type']}"] += 1
        if wait and wait["kind"] in NAMELESS:
            self.bad[f"a leaf without a name: {leaf['type']} ({wait['kind']})"] += 1

    def verdicts(self):
        document = self.ask("check", "--interval", "0", "--fail-on", NEVER)
        for finding in document["findings"]:
            if finding["check"] in NEVER.split(","):
                self.bad[f"a verdict: {finding['check']}"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=1, help="that there are at least")
    parser.add_argument("asyncdbg")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    name = Path(arguments.command[0]).name
    with tempfile.TemporaryDirectory() as cache, subprocess.Popen(
        arguments.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        os.environ["XDG_CACHE_HOME"] = cache
        if server.stdout.readline() != "ready\n":
            sys.exit(f"{name} is not ready")
        looks = Looks(str(Path(arguments.asyncdbg).resolve()), server.pid, arguments.tasks)
        for _ in range(arguments.looks):
            looks.trees()
            looks.verdicts()
        server.stdin.close()
        answers = int(server.stdout.readline())
    counts = sorted(looks.counts) or [0]
    print(f"{name}: {arguments.looks} looks, {looks.complete} complete, {looks.tasks} tasks,")
    print(f"    {counts[0]} to {counts[-1]} a look, at least {arguments.tasks} are there,")
    print(f"    {dict(looks.waits)}, {answers} answers of the server")
    for text, count in (looks.bad + looks.notes).most_common(10):
        print(f"    {count} times {text}")
    return 1 if looks.bad or not looks.tasks or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
