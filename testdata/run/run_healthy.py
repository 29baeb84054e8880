#!/usr/bin/python3
"""Looks at healthy busy servers again and again: no verdict may be given of them.

usage: run_healthy.py [--looks N] [--no-stop] ASYNCDBG PROFILE [SERVER...]

Attaches "asyncdbg check" to mini-redis and axum under load, N times each (default 40), a tenth of
them while their clients wait between two requests. Each answer must fit the schema and must not
find one of:

    deadlock futurelock no-waker closed-channel-wait timer-overdue

with --fail-on all of them, so the status must be 0. Every look must be a look at tasks at work:
at least as many tasks as there are clients must be in the answer of "tasks" before and after.
The servers must go on.

Exit status 77 where there is no cargo.
"""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import run_servers
from run_servers import Failure, Server

TESTDATA = Path(__file__).resolve().parents[1]
# Verdicts that a healthy server can never deserve.
NEVER = ["deadlock", "futurelock", "no-waker", "closed-channel-wait", "timer-overdue"]
CLIENTS = 16


class Looks:
    """Asks asyncdbg about one server and remembers what it found."""

    def __init__(self, asyncdbg, schema, server, options):
        self.asyncdbg = asyncdbg
        self.schema = schema
        self.server = server
        self.options = options
        self.looks = 0
        self.found = collections.Counter()
        self.false = []

    def run(self, *words):
        command = [self.asyncdbg, *self.options, "-p", self.server.pid, "--json", *words]
        done = subprocess.run(
            command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL, check=False
        )
        said = done.stderr.decode().strip()
        try:
            document = json.loads(done.stdout)
            jsonschema.validate(document, self.schema)
        except (ValueError, jsonschema.ValidationError) as err:
            raise Failure(f"{' '.join(words)} ends with {done.returncode}: {said} {err}") from err
        return document, done.returncode

    def check(self):
        # Half of them look twice, as for what takes long.
        self.looks += 1
        interval = "0.05" if self.looks % 2 else "0"
        fail_on = ",".join(NEVER)
        document, status = self.run("check", "--interval", interval, "--fail-on", fail_on)
        names = [finding["check"] for finding in document["findings"]]
        self.found.update(names)
        wrong = [finding for finding in document["findings"] if finding["check"] in NEVER]
        if wrong or status not in (0, 1):
            self.false.append((status, wrong))

    def check_tasks(self):
        document, _ = self.run("tasks")
        if len(document["tasks"]) < CLIENTS:
            raise Failure(f"there are only {len(document['tasks'])} tasks")


def check_server(arguments, schema, path):
    server = Server(path)
    try:
        options = ["--no-stop"] if arguments.no_stop else []
        looks = Looks(arguments.asyncdbg, schema, server, options)
        looks.check_tasks()
        at_rest = max(1, arguments.looks // 10)
        for _ in range(arguments.looks - at_rest):
            looks.check()
        server.say("hold")
        server.expect("held")
        for _ in range(at_rest):
            looks.check()
        server.say("go")
        server.expect("going")
        looks.check_tasks()
    finally:
        server.close()
    other = ", ".join(f"{name} {count} times" for name, count in sorted(looks.found.items()))
    print(f"{path.name} ({arguments.profile}): {arguments.looks} looks found {other or 'nothing'}")
    for status, wrong in looks.false[:5]:
        print(f"    ended with {status}: {json.dumps(wrong)}")
    return not looks.false


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--looks", type=int, default=40, help="how many at each server")
    parser.add_argument("--no-stop", action="store_true", help="never stop the server")
    parser.add_argument("asyncdbg")
    parser.add_argument("profile", choices=["debug", "release"])
    parser.add_argument("servers", nargs="*", default=run_servers.SERVERS)
    arguments = parser.parse_args()
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        return 77
    arguments.asyncdbg = str(Path(arguments.asyncdbg).resolve())
    schema = json.loads((TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
    directory = run_servers.build(arguments.profile, arguments.servers)
    failures = 0
    with tempfile.TemporaryDirectory() as cache:
        # Debug info is read once, so that most of a look is the look.
        os.environ["XDG_CACHE_HOME"] = cache
        for name in arguments.servers:
            try:
                failures += not check_server(arguments, schema, directory / name)
            except Failure as failure:
                print(f"{name} ({arguments.profile}): {failure}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
