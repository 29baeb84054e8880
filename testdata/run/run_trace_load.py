#!/usr/bin/env python3
"""
Looks for long polls of the program `traced`, built with tokio_unstable, under load, where tokio's own hooks
time each poll: none that is named is longer than the longest of its task.

usage: run_trace_load.py ASYNCDBG TRACED [--allow-slow] [TEST...]

TEST: stalls, over, top, recorder; default all. Ends with 77 where the kernel refuses probes to us.
"""
import json
import re
import subprocess
import sys
import tempfile

from harness import checks, trace as shared
from harness.checks import check, check_true
from harness.trace import WAIT, Program, leave_out_refused

RUN = 6000      # ms of the section
LOOK = "3s"     # within it
OVER = "20ms"
ABSURD = 3600 * 10**9  # ns: no number of a program of some seconds


def watch(asyncdbg, path, *words):
    """The documents that a command prints beside the section, and the longest poll of each task."""
    program = Program(path)
    program.begin(f"timed {RUN}")
    done = subprocess.run([asyncdbg, "-p", str(program.child.pid), "--jsonl", *words, *shared.slow],
                          capture_output=True, text=True, timeout=WAIT)
    if done.returncode == 2:
        leave_out_refused(done.stderr)
    truth = program.truth()
    program.end()
    check_true(f"{words[0]}: status {done.returncode}: {done.stderr}", done.returncode in (0, 1))
    longest = {key.removeprefix("longest."): ns for key, ns in truth.items() if key.startswith("longest.")}
    return [json.loads(line) for line in done.stdout.splitlines()], longest, done.stderr


def check_bounds(what, polls, longest):
    """polls: pairs of a task and how long a poll of it is said to have taken, at least."""
    wrong = [(task, ns, longest.get(task)) for task, ns in polls if ns > longest.get(task, 0)]
    check(f"{what}: of {len(polls)} polls, those that are longer than any of their task", wrong, [])


def test_stalls(asyncdbg, path):
    documents, longest, message = watch(asyncdbg, path, "stalls", "--over", OVER, "--duration", LOOK)
    stalls = [d["stall"] for d in documents if "stall" in d]
    check_bounds("stalls", [(s["task"], s["poll_ns"]) for s in stalls], longest)
    # Without ends a poll is over before its stack was read, where that takes long.
    check_true("stalls: the planted ones", stalls or "no task-poll-end" in message)


def test_over(asyncdbg, path):
    documents, longest, _ = watch(asyncdbg, path, "trace", "--over", OVER, "--duration", LOOK)
    ends = [d for d in documents if d.get("event") == "task-poll-end"]
    check("trace --over: ends without a length", [e for e in ends if e["poll_ns"] is None], [])
    check_bounds("trace --over", [(e["task"], e["poll_ns"]) for e in ends], longest)


def numbers_in(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("time", "began", "id", "pid", "tid"):
                yield from numbers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def test_top(asyncdbg, path):
    documents, longest, _ = watch(asyncdbg, path, "top", "--interval", "300ms", "--count", "9", "--over", OVER)
    frames = [d["top"] for d in documents if "top" in d]
    polls = []
    for frame in frames:
        numbers = list(numbers_in({key: frame[key] for key in ("rows", "workers", "hints", "stalls", "polled_ns")}))
        check("top: absurd numbers", [n for n in numbers if n < 0 or n > ABSURD], [])
        polls += [(s["task"], s["poll_ns"]) for s in frame["stalls"]]
        polls += [(h["task"], h["poll_ns"]) for h in frame["hints"] if h["hint"] == "never-yields" and h["tasks"] == 1]
        polls += [(r["task"], r["poll_longest_ns"]) for r in frame["rows"] if r["poll_longest_ns"] is not None]
        polls += [(r["task"], r["since_ns"]) for r in frame["rows"] if r["state"] == "polling" and r["since_ns"]]
    check_true("top: frames", len(frames) == 9)
    check("top: spawned, of tasks that exist", [f["spawned"] for f in frames], [0] * len(frames))
    check_bounds("top", polls, longest)


def test_recorder(asyncdbg, path):
    """Where it has fired, a poll of that task was as long as it says."""
    with tempfile.TemporaryDirectory() as directory:
        documents, longest, message = watch(asyncdbg, path, "trace", "--ring", "4M", "--when", "poll>30ms",
                                            "--count", "3", "--duration", LOOK, "-o", f"{directory}/x.jsonl")
    fired = [d["recorded"] for d in documents if "recorded" in d]
    said = [re.search(r"task (\d+) .*polled for ([0-9.]+) ms", r["why"]) for r in fired]
    # The message has one digit behind the point: its number is too large by at most half of that.
    check_bounds("recorder", [(m[1], (float(m[2]) - 0.05) * 1e6) for m in said], longest)
    check_true(f"recorder: the planted ones: {message}", fired or not can_record(message))


def can_record(message):
    return "needs task-poll-end" not in message


def main():
    arguments = shared.take_slow(sys.argv[1:])
    if len(arguments) < 2:
        sys.exit(__doc__)
    asyncdbg, path, *names = arguments
    checks.run_tests(globals(), names, (asyncdbg, path))
    checks.end()


if __name__ == "__main__":
    main()
