#!/usr/bin/env python3
"""Records the program `traced` with `trace --ring`: what is written, and when.

usage: run_recorder.py [--allow-slow] ASYNCDBG TRACED DEADLOCKS [NAME...]

TRACED, DEADLOCKS  these programs, of any build; debug builds need --allow-slow
NAME               only these: a function's name without "test_"

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import run_trace
from harness import checks
from run_trace import END, START, count, decode_perfetto
from harness.checks import check
from harness.trace import WAIT, Asyncdbg, Program, check_calls, leave_out_refused, slow, take_slow

FILES = 50  # at most, until a ring is full
PONG = "traced::tasks::pong"
ping_slice = "async fn traced::tasks::ping"


class Recorder(Asyncdbg):
    """asyncdbg, once it records a program."""

    def __init__(self, asyncdbg, pid, directory, *options, file="flight.pftrace", ring="4M"):
        self.file = os.path.join(directory, file)
        super().__init__(asyncdbg, "-p", str(pid), "--jsonl", "trace", *slow, "--ring", ring, "-o", self.file, *options)
        self.wait_for_message("recording process")

    def signal(self):
        """Asks for a file."""
        self.child.send_signal(signal.SIGUSR1)

    def next(self):
        """What it says of the next file, once that is written."""
        line = self.child.stdout.readline()
        return json.loads(line)["recorded"] if line else {}

    def finish(self):
        """What it says of each file that is left."""
        output = self.child.communicate(timeout=WAIT)[0]
        return [json.loads(line)["recorded"] for line in output.splitlines()]

    def one(self):
        """Of the only file."""
        said = self.finish()
        check(f"{self.file}: files, with {self.message()}", len(said), 1)
        check("its name", said[0]["file"], self.file)
        check(f"{self.file}: status, with {self.message()}", self.child.returncode, 0 if said[0]["snapshot"] else 1)
        return said[0]


class Lines:
    """A file of lines."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.head, *rows, self.end = [json.loads(line) for line in file]
        self.items = [row for row in rows if "event" in row]


def check_files(directory, *names):
    check("files", sorted(os.listdir(directory)), sorted(names))


def check_snapshot(asyncdbg, path, text):
    done = subprocess.run([asyncdbg, "-c", path, "async", "backtrace", "all"], capture_output=True, text=True)
    check(f"snapshot: {text} in {done.stdout[:2000]}", text in done.stdout, True)


def test_poll(asyncdbg, path, _):
    """A poll that takes too long is written while it runs, and all that was before is there."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "poll>25ms")
        before = program.run("pingpong 200")
        check_files(directory)
        program.run("stall")
        said = recorder.one()
        check("poll: when", said["when"], "poll>25ms")
        took = re.search(r" (?:was|has been) polled for (\d+\.\d) ms", said["why"])
        check(f"poll: how long: {said['why']}", bool(took) and float(took.group(1)) >= 25, True)
        planted = "traced::load::stalling" in said["why"]
        if not planted:
            print(f"left out: the planted poll: before it, {said['why']}")
        check("poll: lost", said["lost"], 0)
        check("poll: snapshot", said["snapshot"], recorder.file + ".snapshot")
        check_files(directory, "flight.pftrace", "flight.pftrace.snapshot")
        check_snapshot(asyncdbg, said["snapshot"], "asyncdbg: snapshot ")
        counts = decode_perfetto(recorder.file)
        if counts and planted:
            names = counts["names"]["slice_begin"]
            check("poll: polls before", names[ping_slice], before["polls." + PONG])
            check("poll: the poll", names["async fn traced::load::stalling"] >= 6, True)
        program.end()


def test_counts(asyncdbg, path, _):
    """A ring that has room for all has all, exactly."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, file="flight.jsonl")
        truth = program.run("counts")
        recorder.signal()
        said = recorder.one()
        check("counts: when", said["when"], "SIGUSR1")
        lines = Lines(recorder.file)
        has = set(lines.head["events"])
        check("counts: events", len(lines.items), said["events"])
        check("counts: the last line", lines.end["events"], said["events"])
        run_trace.check_tasks(lines.items, truth, has)
        run_trace.check_order(lines.items, has)
        program.end()


def test_ring(asyncdbg, path, _):
    """Of more than the ring has room for, the last events are there, one after the other."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        options = ["--events", f"{START},{END}", "--count", "2"]
        recorder = Recorder(asyncdbg, program.child.pid, directory, *options, file="flight.jsonl", ring="64K")
        truth = program.run("pingpong 20000")
        recorder.signal()
        said = [recorder.next()]
        program.run("pingpong 10")
        recorder.signal()
        said += recorder.finish()
        check(f"ring: files, {recorder.child.returncode}, with {recorder.message()}", [s["file"] for s in said], [recorder.file, recorder.file + ".2"])
        lines = Lines(recorder.file)
        check(f"ring: {len(lines.items)} events", 2000 < len(lines.items) < 65536 / 10, True)
        if not said[0]["lost"]:
            kinds = [i["event"] for i in lines.items]
            check("ring: one after the other", all(a != b for a, b in zip(kinds, kinds[1:])), True)
        ends = Lines(said[1]["file"]).items[-44:]
        check("ring: the second file", count(ends, START, "task"), 22)
        check("ring: more than fits", truth["polls"] > len(lines.items), True)
        program.end()


def test_perfetto(asyncdbg, path, _):
    """What began before the oldest event is there from the start, and slices are balanced."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        program.begin("flat 3600 2")
        program.wait_for_task(asyncdbg, "hurrying")
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--count", str(FILES), ring="64K")
        for _ in range(FILES):  # until the ring is full: its oldest event is not that of the start
            recorder.signal()
            said = recorder.next()
            counts = decode_perfetto(said["file"], open_flows=10)
            if not counts or counts["names"]["values"].get("earlier_ns", 0) > 0:
                break
        if counts:
            numbers = counts["names"]["counter"]
            check("perfetto: polls a second", numbers.get("polls a second", 0) > 0, True)
            check(f"perfetto: tasks whose state began earlier, {said}, {counts}", counts["names"]["values"].get("earlier_ns", 0) > 0, True)
        check_snapshot(asyncdbg, said["snapshot"], "traced::load::hurrying")
        program.kill()
        recorder.finish()


def is_stopped(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def is_traced(pid):
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        if "\nTracerPid:\t0\n" not in status.read_text():
            return True
    return False


def stop(recorder, program):
    """Stops asyncdbg, but not while it holds the program for a look: nothing would let that go."""
    while True:
        recorder.child.send_signal(signal.SIGSTOP)
        while not is_stopped(recorder.child.pid):
            time.sleep(0.001)
        if not is_traced(program.child.pid):
            return
        recorder.child.send_signal(signal.SIGCONT)
        time.sleep(0.05)


def test_lost(asyncdbg, path, _):
    """Events were lost: the file says so, and what went on then ends there."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "runnable>1h", ring="128K")
        stop(recorder, program)
        program.overrun()
        recorder.child.send_signal(signal.SIGCONT)
        program.run("pingpong 10")
        recorder.signal()
        said = recorder.finish()
        check(f"lost: some events, {said}, {recorder.message()}", said[0]["lost"] > 0, True)
        check("lost: status", recorder.child.returncode, 1)
        counts = decode_perfetto(recorder.file, open_flows=10)
        if counts:
            check("lost: it is shown", counts["names"]["instant"].get("events were lost", 0) > 0, True)
        program.kill()


def test_lost_still(asyncdbg, path, _):
    """Events go on being lost while the file is written: it says so all the same."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "runnable>1h", ring="128K")
        stop(recorder, program)
        program.overrun()
        recorder.signal()
        program.begin("flat 3600 2")
        recorder.child.send_signal(signal.SIGCONT)
        said = recorder.finish()
        check(f"lost still: some events, {said}", said[0]["lost"] > 0, True)
        check("lost still: status", recorder.child.returncode, 1)
        program.kill()


def test_runnable(asyncdbg, path, _):
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "runnable>100ms", "--count", "2")
        program.run("starve")
        said = [recorder.next()]
        recorder.signal()
        said += recorder.finish()
        check("runnable: when", [s["when"] for s in said], ["runnable>100ms", "SIGUSR1"])
        check(f"runnable: why: {said[0]['why']}", "traced::load::starved" in said[0]["why"], True)
        decode_perfetto(recorder.file)
        program.end()


def test_alive(asyncdbg, path, _):
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "alive>3")
        program.run("pingpong 10")
        check_files(directory)
        program.run("counts")
        said = recorder.one()
        check("alive: when", said["when"], "alive>3")
        program.end()


def test_death(asyncdbg, path, _):
    """A signal ends the program: what it did last is written, and where its core is."""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        is_file = not file.read().startswith("|")
    for number, dumps in ((signal.SIGKILL, False), (signal.SIGABRT, False), (signal.SIGABRT, True)):
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as cores:
            limit = resource.RLIM_INFINITY if dumps else 0
            program = Program(path, cwd=cores, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (limit, limit)))
            recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "death", file="flight.jsonl")
            truth = program.run("pingpong 50")
            program.child.send_signal(number)
            said = recorder.finish()
            program.child.wait(WAIT)
            check(f"death: status, with {recorder.message()}", recorder.child.returncode, 0)
            check("death: when", [s["when"] for s in said], ["death"])
            check("death: signal", said[0]["signal"], number)
            check("death: snapshot", said[0]["snapshot"], None)
            polls = count(Lines(recorder.file).items, START, "task")
            check("death: polls", polls, truth["polls"])
            check_files(directory, "flight.jsonl")
            if not dumps:
                check("death: core", said[0]["core"], None)
            elif is_file and os.listdir(cores):
                check("death: core", said[0]["core"], os.path.join(cores, os.listdir(cores)[0]))


def test_exit(asyncdbg, path, _):
    """The program ends by itself, or asyncdbg is interrupted: nothing is written."""
    for how in ("exit", "^C"):
        with tempfile.TemporaryDirectory() as directory:
            program = Program(path)
            recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "death", "--when", "poll>1h")
            program.run("pingpong 10")
            if how == "^C":
                recorder.child.send_signal(signal.SIGINT)
            else:
                program.end()
            check(f"{how}: files it tells of", recorder.finish(), [])
            check(f"{how}: status", recorder.child.returncode, 0)
            check(f"{how}: it says so", "0 of 1 files" in recorder.message(), True)
            check_files(directory)
            program.end()


def test_deadlock(asyncdbg, _, path):
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        program.child.stdout.readline()
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--when", "deadlock", "--every", "200ms")
        said = recorder.one()
        check("deadlock: when", said["when"], "deadlock")
        check(f"deadlock: why: {said['why']}", "waits for" in said["why"], True)
        counts = decode_perfetto(recorder.file)
        if counts:
            places = [name for name in counts["names"]["slice_begin"] if name.startswith("waiting at deadlocks/src/")]
            check("deadlock: tasks that exist have places", len(places) > 5, True)
        check_snapshot(asyncdbg, said["snapshot"], "deadlocks::")
        program.kill()


def test_filter(asyncdbg, path, _):
    """--with and --over choose what is written, and --with which tasks the condition is about."""
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        options = ["--with", "type", PONG, "--when", "poll>20ms"]
        recorder = Recorder(asyncdbg, program.child.pid, directory, *options, file="flight.jsonl")
        truth = program.run("pingpong 20")
        program.run("stall")
        recorder.signal()
        said = recorder.one()
        check("filter: when", said["when"], "SIGUSR1")
        items = Lines(recorder.file).items
        check("filter: types", {i["type"].split("::{")[0] for i in items}, {PONG})
        check("filter: polls", count(items, START, "task"), truth["polls." + PONG])
        program.end()
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--over", "15ms", "--when", "alive>1000",
                            file="flight.jsonl")
        program.run("pingpong 20")
        program.run("stall")
        recorder.signal()
        recorder.one()
        items = Lines(recorder.file).items
        check("over: events", {i["event"] for i in items}, {END})
        check("over: lengths", [i["poll_ns"] for i in items if i["poll_ns"] < 15e6], [])
        check("over: the stall", sum("stalling" in i["type"] for i in items), 1)
        program.end()


def test_launched(asyncdbg, path, _):
    """A program that is started is recorded from its first spawn on."""
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "flight.jsonl")
        words = [asyncdbg, "--jsonl", "trace", *slow, "--ring", "1M", "--when", "poll>20ms", "-o", file, "--", path, "now",
                 "stall"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=WAIT)
        said = [json.loads(line)["recorded"] for line in done.stdout.splitlines() if line.startswith("{")]
        check(f"launched: files, with {done.stderr}", len(said), 1)
        check("launched: spawns", count(Lines(file).items, "task-spawn", "task"), 1)


def test_full(asyncdbg, path, _):
    """The disk is full: it says so, and no part of a file is left."""
    directory = tempfile.mkdtemp()
    if os.getuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", directory],
                                          capture_output=True).returncode != 0:
        os.rmdir(directory)
        print("full: left out")
        return
    try:
        program = Program(path)
        recorder = Recorder(asyncdbg, program.child.pid, directory, file="flight.jsonl")
        program.run("pingpong 2000")
        recorder.signal()
        check("full: files it tells of", recorder.finish(), [])
        check("full: status", recorder.child.returncode, 2)
        check(f"full: what it says: {recorder.message()}", "No space left on device" in recorder.message(), True)
        check("full: files", [name for name in os.listdir(directory) if not name.endswith(".snapshot")], [])
        program.end()
    finally:
        subprocess.run(["umount", directory], check=True)
        os.rmdir(directory)


def test_wrong(asyncdbg, path, _):
    with tempfile.TemporaryDirectory() as directory:
        program = Program(path)
        other = os.path.join(directory, "other")
        with open(other, "w", encoding="utf-8") as file:
            file.write("something else\n")
        missing = os.path.join(directory, "missing", "x.pftrace")
        calls = [
            (["--ring", "4M"], 64, "-o FILE"),
            (["--ring", "4M", "-o", "-"], 64, "-o FILE"),
            (["--ring", "4Q", "-o", other], 64, "is not a size"),
            (["--ring", "4K", "-o", other], 64, "at least 64K"),
            (["--when", "deadlock"], 64, "needs --ring"),
            (["--count", "2"], 64, "needs --ring"),
            (["--ring", "4M", "-o", other, "--count", "0"], 64, "at least 1"),
            (["--ring", "4M", "-o", other, "--every", "1s"], 64, "--when deadlock"),
            (["--ring", "4M", "-o", other, "--when", "pol>50ms"], 64, "did you mean poll>50ms"),
            (["--ring", "4M", "-o", other, "--when", "poll"], 64, "in quotes"),
            ([*slow, "--ring", "4M", "-o", other], 64, "is not such a file"),
            ([*slow, "--ring", "4M", "-o", missing], 2, "No such file"),
        ]
        check_calls(asyncdbg, calls, ["-p", str(program.child.pid), "trace"])
        check_files(directory, "other")
        program.end()


def main(arguments):
    arguments = take_slow(arguments)
    if len(arguments) < 3:
        sys.exit(__doc__)
    asyncdbg, path, deadlocks, *names = arguments
    program = Program(path)
    with tempfile.TemporaryDirectory() as directory:
        recorder = Recorder(asyncdbg, program.child.pid, directory, "--duration", "1ms")
        recorder.finish()
        leave_out_refused(recorder.message())
    program.end()
    checks.run_tests(globals(), names, (asyncdbg, path, deadlocks))
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
