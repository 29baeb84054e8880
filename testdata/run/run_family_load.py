#!/usr/bin/python3
"""Looks at busy programs of family/ again and again: tide, a D-Bus service with clients.

usage: run_family_load.py [--looks N] ASYNCDBG PROFILE [PROGRAM...]

N looks at each, default 40: half at all trees, half for verdicts. No future may be in a state in
which none can be that goes on, no task may be listed twice, no leaf of an idle task may be without a name,
and none of these may be found of a program that goes on:

    deadlock futurelock no-waker closed-channel-wait

Before, the D-Bus service is looked at while it is at rest: its own tasks, and a worker for each
executor; then in a core, of a debug build, with a thread in zbus's own loop around its executor. At least as many tasks as the program says must be there. Each look must be complete or say what
keeps no list of its tasks. A D-Bus needs dbus-daemon.

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

from run_healthy import NEVER
from run_servers import Failure, check_futures, check_leaves, futures

import jsonschema

TESTDATA = Path(__file__).resolve().parents[1]
# The tasks of each at least: for tide those of its clients and the one that accepts.
PROGRAMS = {"tide_load": 17, "dbus_service": 8}


def build(profile, programs):
    """Directory of the executables."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", tempfile.gettempdir() + "/asyncdbg-programs"))
    target = target / "family"
    command = ["cargo", "build", "--locked", "--quiet", "--target-dir", str(target)]
    command += ["--profile", profile] if profile != "debug" else []
    for program in programs:
        command += ["-p", program]
    subprocess.run(command, cwd=TESTDATA / "family", check=True)
    return target / profile


class Bus:
    """A D-Bus of its own."""

    def __init__(self, work):
        self.address = f"unix:path={work}/bus"
        command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"]
        self.process = subprocess.Popen(
            [*command, f"--address={self.address}"], stdout=subprocess.PIPE
        )
        self.process.stdout.readline()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)


class Program:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in self.process.stdout:
            if line.decode().startswith("ready"):
                return
        raise Failure("it ended before it was ready")

    def close(self):
        if self.process.poll() is not None:
            raise Failure(f"it ended with {self.process.returncode}")
        self.process.stdin.close()
        self.process.wait(timeout=60)


def ask(asyncdbg, schema, target, *words):
    """asyncdbg's answer about a process or a core, validated."""
    run = subprocess.run(
        [asyncdbg, "-p" if isinstance(target, int) else "-c", str(target), "--json", *words],
        capture_output=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if run.returncode not in (0, 1):
        raise Failure(f"{' '.join(words)} ends with {run.returncode}: {run.stderr.decode()}")
    document = json.loads(run.stdout)
    jsonschema.validate(document, schema)
    return document


def check_verdicts(document):
    wrong = [finding for finding in document["findings"] if finding["check"] in NEVER]
    if wrong:
        raise Failure(f"a false verdict: {json.dumps(wrong)}")


def check_once(document):
    """No task is listed twice."""
    tasks = collections.Counter(task["addr"] for task in document["tasks"] if task["addr"])
    twice = [addr for addr, count in tasks.items() if count > 1]
    if twice:
        raise Failure(f"listed twice: {', '.join(twice)}")


def check_notes(document):
    """What is not complete says why: a list that is missing, or a program that went on meanwhile."""
    if document["complete"] or document["notes"]:
        return
    raise Failure("an answer that is not complete does not say why")


def look(asyncdbg, schema, pid, name, looks):
    documents = []
    for number in range(looks):
        if number % 2:
            check_verdicts(ask(asyncdbg, schema, pid, "check", "--interval", "0"))
            continue
        document = ask(asyncdbg, schema, pid, "async", "backtrace", "all")
        check_notes(document)
        check_once(document)
        check_futures(document)
        tasks = sum(task["kind"] == "task" for task in document["tasks"])
        if tasks < PROGRAMS[name]:
            raise Failure(f"only {tasks} tasks")
        documents.append(document)
    if not check_leaves(documents, f"{name} in {len(documents)} looks under load"):
        raise Failure("leaves without a name")


# What the service's and its clients' own coroutines end in.
RESTING = {
    "dbus_service::Service::wait": {"pending"},
    "dbus_service::calls": {"broadcast"},
    "dbus_service::listens": {"broadcast"},
}


def check_rest(asyncdbg, schema, pid):
    document = ask(asyncdbg, schema, pid, "async", "backtrace", "all")
    if not document["complete"]:
        raise Failure(f"not complete at rest: {document['notes']}")
    found = {}
    for task in document["tasks"]:
        names = {future["function"] for future in futures(task["root"])} & set(RESTING)
        kinds = {future["wait"]["kind"] for future in futures(task["root"]) if future["wait"]}
        found.update({name: kinds for name in names})
    if found != RESTING:
        raise Failure(f"at rest there are {found}")
    workers = {thread["runtime"] for thread in document["threads"] if thread["role"] == "worker"}
    if workers != {runtime["index"] for runtime in document["runtimes"]}:
        raise Failure(f"workers of {workers} of {len(document['runtimes'])} executors")
    check_verdicts(ask(asyncdbg, schema, pid, "check", "--interval", "0"))


def check_loop(asyncdbg, schema, pid, work):
    """A thread between two runs of its executor, in zbus's own loop: no task is missing."""
    place = "zbus::abstractions::executor::Executor::is_empty"
    words = ["-ex", f"break {place}", "-ex", "continue", "-ex", f"gcore {work}/core"]
    run = subprocess.run(
        ["gdb", "-p", str(pid), "-batch", *words],
        capture_output=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if not os.path.exists(f"{work}/core"):
        raise Failure(f"no core of a thread in {place}: {run.stderr.decode()}")
    document = ask(asyncdbg, schema, f"{work}/core", "async", "backtrace", "all")
    if not document["complete"]:
        raise Failure(f"with a thread in {place}: {document['notes']}")


def check_program(asyncdbg, schema, path, looks, work):
    bus = Bus(work) if path.name == "dbus_service" else None
    try:
        if bus:
            program = Program(str(path), bus.address)
            try:
                check_rest(asyncdbg, schema, program.process.pid)
            finally:
                program.close()
        program = Program(str(path), *([bus.address, "hurry"] if bus else []))
        try:
            look(asyncdbg, schema, program.process.pid, path.name, looks)
            if bus and path.parent.name == "debug" and shutil.which("gdb"):
                check_loop(asyncdbg, schema, program.process.pid, work)
        finally:
            program.close()
    finally:
        if bus:
            bus.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--looks", type=int, default=40, help="how many at each program")
    parser.add_argument("asyncdbg")
    parser.add_argument("profile", choices=["debug", "release", "lto"])
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    arguments = parser.parse_args()
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        return 77
    programs = [name for name in arguments.programs if name != "dbus_service"]
    if "dbus_service" in arguments.programs:
        if shutil.which("dbus-daemon"):
            programs.append("dbus_service")
        else:
            print("skipped: dbus_service needs dbus-daemon")
    asyncdbg = str(Path(arguments.asyncdbg).resolve())
    schema = json.loads((TESTDATA.parent / "docs" / "asyncdbg.schema.json").read_text())
    directory = build(arguments.profile, programs)
    failures = 0
    for name in programs:
        with tempfile.TemporaryDirectory() as work:
            os.environ["XDG_CACHE_HOME"] = work
            try:
                check_program(asyncdbg, schema, directory / name, arguments.looks, work)
                print(f"{name} ({arguments.profile}): ok")
            except Failure as failure:
                print(f"{name} ({arguments.profile}): {failure}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
