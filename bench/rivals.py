#!/usr/bin/env python3
"""What other debuggers answer about the tasks of the same programs.

asyncdbg and BugStalker are asked for `async backtrace all`; gdb and lldb have no such command and
run a script of ours that walks the same lists. Counted are the tasks that each lists.
"""

import sys
import tempfile
from pathlib import Path

import bugstalker
import common

# Executable below the directory of the build, arguments.
PROGRAMS = [
    ("small, debug", "large/small-debug", [20]),
    ("small, release", "large/small-release", [20]),
    ("large, debug", "large/large-debug", [20]),
    ("large, debug", "large/large-debug", [1700]),
    ("large, release", "large/large-release", [1700]),
    ("scale, debug", "programs/debug/scale", [1_000]),
    ("scale, release", "programs/release/scale", [1_000]),
    ("scale, release", "programs/release/scale", [100_000]),
]


class Answer:
    """The runs of one tool on one program."""

    def __init__(self, series=None, tasks=None, remark=""):
        self.series, self.tasks, self.remark = series or common.Series(), tasks, remark

    def add(self, run, tasks):
        self.tasks = tasks if self.tasks is None else min(self.tasks, tasks)
        self.series.add(run)


def count(output, prefix):
    with open(output, "rb") as file:
        return sum(line.startswith(prefix) for line in file)


def ask_asyncdbg(options, program, directory, answer):
    output = directory / "asyncdbg"
    command = [options.asyncdbg, "-p", program.pid, "async", "backtrace", "all"]
    cache = {"XDG_CACHE_HOME": str(directory / f"cache-{len(answer.series.runs)}")}
    run = common.Run(command, env=cache, output=output).expect(0, 1)
    answer.add(run, count(output, b"Task: "))


def ask_bugstalker(options, program, directory, answer):
    run = bugstalker.Session(str(options.bugstalker), program.pid, options.deadline)
    if run.seconds is None:
        late = f"no answer after {options.deadline} s"
        answer.remark = late if run.status is None else f"ended with {run.status}"
        run.seconds = options.deadline
    answer.add(run, run.tasks)


def ask_gdb(options, program, directory, answer):
    output = directory / "gdb"
    script = common.HERE / "gdb_tasks.py"
    command = ["gdb", "-nx", "-batch", "-p", program.pid, "-x", script]
    run = common.Run(command, output=output)
    if "Error" in run.errors:
        answer.remark = run.errors.strip().splitlines()[-1]
    answer.add(run, count(output, b"task 0x"))


def ask_lldb(options, program, directory, answer):
    output = directory / "lldb"
    script = common.HERE / "lldb_tasks.py"
    lldb = common.find_tool("lldb", "lldb-19")
    command = [lldb, "--no-lldbinit", "--batch", "-p", program.pid]
    run = common.Run([*command, "-o", f"command script import {script}"], output=output)
    answer.add(run, count(output, b"task 0x"))


def tools(options):
    yield "asyncdbg", ask_asyncdbg, options.asyncdbg
    yield "BugStalker", ask_bugstalker, options.bugstalker
    yield "gdb and a script", ask_gdb, common.find_tool("gdb")
    yield "lldb and a script (names no future)", ask_lldb, common.find_tool("lldb", "lldb-19")


def measure(options, executable, arguments):
    answers = {}
    program = common.Program(options.build / executable, *arguments)
    with tempfile.TemporaryDirectory() as name:
        for turn in range(options.runs):
            for tool, ask, there in tools(options):
                answer = answers.setdefault(tool, Answer(remark="" if there else "not installed"))
                # What takes minutes is not repeated five times.
                if not there or (turn > 0 and answer.series.seconds > options.patience):
                    continue
                ask(options, program, Path(name), answer)
                seconds = answer.series.runs[-1].seconds
                print(f"{executable}: {tool}: {seconds:.1f} s", file=sys.stderr)
                state = program.state()
                if state != "runs":
                    answer.remark = f"{answer.remark} the target {state}".strip()
                    program.process.kill()
                    program.process.wait()
                    program = common.Program(options.build / executable, *arguments)
    program.end()
    return program.truth["tasks"], answers


def rows(label, tasks, answers):
    for tool, answer in answers.items():
        listed = None if answer.tasks is None else f"{answer.tasks:,} of {tasks:,}"
        timed = bool(answer.series.runs)
        yield [
            f"{label}, {tasks:,} tasks",
            tool,
            common.duration(answer.series.seconds) if timed and answer.tasks else None,
            listed,
            f"{answer.series.peak_mb:.0f} MB" if timed else None,
            len(answer.series.runs),
            answer.remark or "runs on",
        ]


def versions(options):
    for tool, command in (
        ("gdb", ["gdb", "--version"]),
        ("lldb", ["lldb-19", "--version"]),
        ("BugStalker", [options.bugstalker, "--version"]),
    ):
        if command[0] and common.find_tool(str(command[0])):
            lines = common.capture(command).strip().splitlines()
            yield tool, lines[0] if lines else "unknown"


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--bugstalker", default=common.find_tool("bs"), help="default: bs in PATH")
    parser.add_argument(
        "--patience",
        type=float,
        default=30,
        metavar="SECONDS",
        help="what takes longer is run once only",
    )
    parser.add_argument(
        "--deadline",
        type=int,
        default=300,
        metavar="SECONDS",
        help="for BugStalker; the other tools have 10 minutes",
    )
    parser.add_argument("--only", help="programs whose name has this in it")
    options = parser.parse_args()
    print(
        f"## Other debuggers\n\n{options.runs} runs, medians (peaks: the largest). "
        f"{common.machine()}.\n"
    )
    print(f"{'; '.join(version for _, version in versions(options))}.\n")
    figures, lines = [], []
    for label, executable, arguments in PROGRAMS:
        if options.only and options.only not in label:
            continue
        tasks, answers = measure(options, executable, arguments)
        lines += rows(label, tasks, answers)
        figures += [
            {
                "program": label,
                "tasks": tasks,
                "tool": tool,
                "listed": answer.tasks,
                "remark": answer.remark,
                "series": answer.series.figures() if answer.series.runs else None,
            }
            for tool, answer in answers.items()
        ]
    common.table(
        [
            "program",
            "tool",
            "time to the answer",
            "tasks listed",
            "peak memory",
            "runs",
            "the target",
        ],
        lines,
    )
    common.write_json(options, figures)


if __name__ == "__main__":
    main()
