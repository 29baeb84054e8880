#!/usr/bin/env python3
"""Counts the events of the program `traced` with `metrics`, and compares them with its own counts.

usage: run_metrics.py ASYNCDBG TRACED [--allow-slow]

TRACED    the program traced, of any build; debug builds need --allow-slow

Ends with 77 where the kernel refuses probes to us. Where there is promtool, it checks what is written.
"""
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from harness import checks
from harness.checks import check
from harness.trace import WAIT, Asyncdbg, Program, check_calls, leave_out_refused, slow, take_slow, wait_for

SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """What one file says."""

    def __init__(self, text):
        self.text = text
        self.samples = []
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            if not match:
                check(f"a line of the format: {line}", False, True)
                continue
            name, labels, value = match.groups()
            self.samples.append((name, dict(LABEL.findall(labels or "")), float(value)))

    def sum(self, name, **labels):
        return sum(value for sample, has, value in self.samples
                   if sample == "asyncdbg_" + name and all(has.get(k) == v for k, v in labels.items()))

    def families(self):
        return {line.split()[2] for line in self.text.splitlines() if line.startswith("# TYPE")}


def check_format(what, metrics):
    seen = [(name, tuple(sorted(labels.items()))) for name, labels, _ in metrics.samples]
    check(f"{what}: each series once", len(seen), len(set(seen)))
    if not shutil.which("promtool"):
        return
    done = subprocess.run(["promtool", "check", "metrics"], input=metrics.text, capture_output=True, text=True)
    check(f"{what}: promtool: {done.stdout}{done.stderr}", done.returncode, 0)
    check(f"{what}: what promtool says: {done.stdout}{done.stderr}", done.stdout + done.stderr, "")


def start(asyncdbg, program, *options):
    return Asyncdbg(asyncdbg, "-p", str(program.child.pid), "metrics", *slow, *options)


def wait_for_file(path, counting):
    """Until it counts: it has put its breakpoints into the code."""
    wait_for(lambda: os.path.exists(path) or counting.child.poll() is not None)
    if not os.path.exists(path):
        leave_out_refused(counting.message())
        sys.exit(f"asyncdbg does not count: {counting.message()}")


def count(asyncdbg, path, section):
    """The truth of a section, and what metrics says of it when the program has ended."""
    program = Program(path)
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "traced.prom")
        counting = start(asyncdbg, program, "--every", "200ms", "-o", file)
        wait_for_file(file, counting)
        truth = program.run(section)
        program.end()
        check(f"{section}: on standard output", counting.child.communicate(timeout=WAIT)[0], "")
        # A snapshot of a program that starts and ends threads may be incomplete, which a note says.
        incomplete = "not all tasks that exist could be read" in counting.message()
        check(f"{section}: status ({counting.message()})", counting.child.returncode, 1 if incomplete else 0)
        check(f"{section}: files", os.listdir(directory), ["traced.prom"])
        with open(file, encoding="utf-8") as f:
            metrics = Metrics(f.read())
    check_format(section, metrics)
    check(f"{section}: lost", metrics.sum("trace_lost_events_total"), 0)
    for name, key in (("spawned_tasks_total", "spawned"), ("dropped_tasks_total", "terminated")):
        check(f"{section}: {name}", metrics.sum(name, kind="task"), truth[key])
        check(f"{section}: {name} of jobs", metrics.sum(name, kind="blocking"), truth["blocking"])
    polls = truth["polls"] + truth["cancels"]
    for name in ("polls_total", "poll_duration_seconds_count"):
        check(f"{section}: {name}", metrics.sum(name, kind="task"), polls)
    check(f"{section}: polls of workers", metrics.sum("worker_polls_total"), polls)
    # A spawn that only the first poll showed has no delay: of a current-thread runtime, and in debug builds.
    first = metrics.sum("first_poll_delay_seconds_count", kind="task")
    check(f"{section}: {first} first polls", first <= truth["spawned"], True)
    if section == "counts" and not slow:
        check(f"{section}: first polls", first, truth["spawned"])
    check(f"{section}: alive", metrics.sum("live_tasks"), 0)
    for key, number in truth.items():
        if key.startswith("polls.") and not key.endswith("::aborted"):
            kind = key[len("polls."):] + "::{async_fn_env#0}"
            check(f"{section}: {key}", metrics.sum("polls_total", type=kind), number)
    return truth, metrics


def run_stall(asyncdbg, path):
    truth, metrics = count(asyncdbg, path, "stall")
    slow = dict(kind="task", type="traced::load::stalling::{async_fn_env#0}")
    polls, slow_polls = metrics.sum("polls_total", **slow), metrics.sum("slow_polls_total", **slow)
    # The planted one; a poll that waits for a processor is as long.
    check(f"stall: {slow_polls} slow polls", 1 <= slow_polls <= polls, True)
    length = metrics.sum("poll_duration_seconds_sum", **slow)
    check("stall: length of polls", truth["stall_ns"] / 1e9 <= length, True)
    bucket = {le: metrics.sum("poll_duration_seconds_bucket", le=le, **slow) for le in ("0.01", "0.02")}
    check("stall: polls up to 10 ms", bucket["0.01"], polls - slow_polls)
    check("stall: polls up to 20 ms", bucket["0.01"] <= bucket["0.02"] < polls, True)


def run_wakes(asyncdbg, path):
    truth, metrics = count(asyncdbg, path, "pingpong 500")
    check("pingpong: woken", metrics.sum("scheduled_duration_seconds_count"), truth["wakes"])


def read_answer(file):
    """The lines up to an empty one, which is between two answers."""
    return "".join(itertools.takewhile(str.strip, file))


def run_time(asyncdbg, path):
    """Each worker is either busy or parked while it is traced, and its runtime is known."""
    program = Program(path)
    program.begin("flat 3600 2")
    program.wait_for_task(asyncdbg, "hurrying")
    counting = start(asyncdbg, program, "--every", "1s")
    # The first answer, and one more that was begun after it.
    begun = [read_answer(counting.child.stdout) for _ in range(2)]
    counting.child.send_signal(signal.SIGINT)
    rest = counting.child.stdout.read()
    counting.child.wait(WAIT)
    first, last = Metrics(begun[0]), Metrics(rest.split("\n\n")[-1] if rest.strip() else begun[1])
    check_format("flat", last)
    elapsed = last.sum("elapsed_seconds") - first.sum("elapsed_seconds")
    # A slow asyncdbg on a busy machine loses events of a program that does nothing but poll.
    lost = last.sum("trace_lost_events_total")
    if lost:
        print(f"left out: times of workers: {lost:.0f} events were lost")
    for worker in "01" if not lost else "":
        labels = dict(runtime="0", worker=worker)
        busy, parked = (last.sum(f"worker_{name}_duration_seconds_total", **labels)
                        - first.sum(f"worker_{name}_duration_seconds_total", **labels) for name in ("busy", "park"))
        check(f"flat: worker {worker} was busy {busy} s", busy > 0, True)
        check(f"flat: time of worker {worker} between two answers", round(busy + parked, 6), round(elapsed, 6))
        before = first.sum("worker_polls_total", **labels)
        check("flat: polls grow", 0 < before < last.sum("worker_polls_total", **labels), True)
    check("flat: all polls are known workers'", last.sum("worker_polls_total", runtime="unknown"), 0)
    check("flat: workers", last.sum("workers", runtime="0"), 2)
    if not lost:
        check("flat: polls whose end was not seen", last.sum("trace_unmatched_polls_total"), 0)
    check("flat: alive", last.sum("live_tasks", kind="task"), 2)
    # Old tokios do not count them.
    if any(name == "asyncdbg_runtime_live_tasks" for name, _, _ in last.samples):
        check("flat: alive by its own count", last.sum("runtime_live_tasks", runtime="0"), 2)
    check("flat: spawned", last.sum("spawned_tasks_total"), 0)
    for name in ("global_queue_depth", "local_queue_depth", "blocking_queue_depth"):
        check(f"flat: {name}", "asyncdbg_" + name in last.families(), True)
    program.kill()
    print("time: done")


def run_late(asyncdbg, path):
    """Workers that begin later are found, and so are their runtimes."""
    program = Program(path)
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "traced.prom")
        counting = start(asyncdbg, program, "--duration", "20s", "--every", "1s", "-o", file)
        wait_for_file(file, counting)
        program.run("flat 4 2")
        program.end()
        counting.child.wait(WAIT)
        with open(file, encoding="utf-8") as f:
            metrics = Metrics(f.read())
    check_format("late", metrics)
    for worker in "01":
        check("late: polls", metrics.sum("worker_polls_total", runtime="0", worker=worker) > 0, True)
    lost = metrics.sum("trace_lost_events_total")
    if lost:
        print(f"left out: all polls are those of workers: {lost:.0f} events were lost")
    else:
        check("late: all polls", metrics.sum("worker_polls_total", runtime="0"), metrics.sum("polls_total"))
    check("late: alive", metrics.sum("live_tasks"), 0)
    print("late: done")


def run_interrupted(asyncdbg, path):
    """What was counted up to ^C is written, and so is what was counted when the program is killed."""
    for how in ("^C", "kill"):
        program = Program(path)
        with tempfile.TemporaryDirectory() as directory:
            file = os.path.join(directory, "traced.prom")
            counting = start(asyncdbg, program, "--every", "2s", "-o", file)
            wait_for_file(file, counting)
            os.remove(file)
            truth = program.run("pingpong 10")
            if how == "^C":
                counting.child.send_signal(signal.SIGINT)
            else:
                program.child.kill()
            check(f"{how}: status", counting.child.wait(WAIT), 0)
            with open(file, encoding="utf-8") as f:
                metrics = Metrics(f.read())
        check_format(how, metrics)
        check(f"{how}: polls", metrics.sum("polls_total"), truth["polls"])
        check(f"{how}: still alive", metrics.sum("live_tasks"), 0)
        program.kill()
    print("interrupted: done")


def run_wrong(asyncdbg, path):
    program = Program(path)
    pid = str(program.child.pid)
    with tempfile.NamedTemporaryFile("w", suffix=".prom") as other:
        other.write("something else\n")
        other.flush()
        calls = [
            (["-p", pid, "metrics", "--every", "0"], 64, "above 0"),
            (["-p", pid, "metrics", "--over", "soon"], 64, "is not an interval"),
            (["-p", pid, "metrics", "-o", ""], 64, "the file name is empty"),
            (["-p", pid, "--json", "metrics", "--duration", "10ms"], 64, "text format"),
            (["-p", pid, "metrics", "--duration", "10ms", "-o", other.name], 64, "is not such a file"),
            (["-p", pid, "metrics", "--duration", "10ms", "-o", "/dev/full"], 64, "is a device"),
            (["-p", str(os.getpid()), "metrics"], 2, "no async runtime"),
            (["metrics"], 64, "needs a running process"),
        ]
        check_calls(asyncdbg, calls)
    program.end()
    print("wrong calls: done")


def main(arguments):
    arguments = take_slow(arguments)
    if len(arguments) != 2:
        sys.exit(__doc__)
    for section in ("counts", "current", "several"):
        count(*arguments, section)
        print(f"{section}: done")
    run_stall(*arguments)
    run_wakes(*arguments)
    if os.environ.get("SLOW_ASYNCDBG"):
        print("left out: programs that do nothing but poll, for which this build of asyncdbg is too slow")
    else:
        run_time(*arguments)
        run_late(*arguments)
    run_interrupted(*arguments)
    run_wrong(*arguments)
    if not shutil.which("promtool"):
        print("left out: promtool (Debian: prometheus), which checks the format")
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
