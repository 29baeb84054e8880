#!/usr/bin/env python3
"""
How the whole command grows with the number of tasks, to JSONL and to text; with --queues, what
looks at all waits at once does. Of `check` the time has the pause between its two looks.
"""

import tempfile
from pathlib import Path

import common

TASKS = [1_000, 10_000, 100_000, 1_000_000]
LIST = ["async", "backtrace", "all"]
FORMATS = {"JSONL": ["--jsonl", *LIST], "text": LIST}
QUESTIONS = {
    "`async backtrace all --group`": [*LIST, "--group"],
    "`check`": ["check"],
    "`report`": ["report", "-"],
    "`save`": ["save", "-"],
    "`async deadlocks`": ["async", "deadlocks"],
}


def count_tasks(output, kind):
    if kind == "JSONL":
        return common.head_of_jsonl(output)[1]
    with open(output, "rb") as file:
        return sum(line.startswith(b"Task: ") for line in file)


def measure_questions(options, tasks):
    scale = options.build / "programs/release/scale"
    series = {question: common.Series() for question in QUESTIONS}
    with common.running(scale, tasks, "--queues") as program:
        for question, words in QUESTIONS.items():
            command = [options.asyncdbg, "-p", program.pid, *words]
            common.Run(command).expect(0, 1)  # into the cache
            for _ in range(options.runs):
                series[question].add(common.Run(command).expect(0, 1))
    return {"tasks": tasks, "series": series, "sizes": {}}


def question_rows(results):
    for question in QUESTIONS:
        previous = None
        for result in results:
            series, tasks = result["series"][question], result["tasks"]
            cpu = series.median("cpu")
            yield [
                f"{question}, {tasks:,}",
                common.duration(series.seconds),
                common.duration(cpu),
                previous and f"{cpu / previous:.1f}",
                f"{series.peak_mb:.0f} MB",
            ]
            previous = cpu


def measure(options, tasks):
    scale = options.build / "programs/release/scale"
    series = {kind: common.Series() for kind in FORMATS}
    sizes = {}
    with tempfile.TemporaryDirectory() as name, common.running(scale, tasks) as program:
        output = Path(name) / "answer"
        for kind, words in FORMATS.items():
            command = [options.asyncdbg, "-p", program.pid, *words]
            # Checked once; what is timed is not written to a disk.
            common.Run(command, output=output).expect(0, 1)
            counted = count_tasks(output, kind)
            if counted != tasks:
                raise SystemExit(f"{counted} tasks instead of {tasks}")
            sizes[kind] = output.stat().st_size
            output.unlink()
            for _ in range(options.runs):
                series[kind].add(common.Run(command).expect(0, 1))
    return {"tasks": tasks, "series": series, "sizes": sizes}


def rows(results):
    for kind in FORMATS:
        previous = None
        for result in results:
            series, tasks = result["series"][kind], result["tasks"]
            slope = None
            if previous:
                more = series.seconds - previous["series"][kind].seconds
                slope = f"{more / (tasks - previous['tasks']) * 1e6:.2f} us"
            yield [
                f"{tasks:,} to {kind}",
                common.duration(series.seconds),
                f"{series.seconds / tasks * 1e6:.2f} us",
                slope,
                common.duration(series.median("cpu")),
                f"{series.peak_mb:.0f} MB",
                f"{result['sizes'][kind] / 1e6:.1f} MB",
            ]
            previous = result


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--tasks", type=int, action="append", help=f"default: {TASKS}")
    parser.add_argument("--queues", action="store_true", help="a third waits for one mutex, a third on one Notify")
    options = parser.parse_args()
    print(
        f"## Whole command\n\n{options.runs} runs, medians (peaks: the largest). "
        f"{common.machine()}.\n"
    )
    ask = measure_questions if options.queues else measure
    results = [ask(options, tasks) for tasks in options.tasks or TASKS]
    if options.queues:
        common.table(
            ["tasks", "time", "processor time", "times that of the row above", "peak memory"],
            list(question_rows(results)),
        )
    else:
        common.table(
            ["tasks", "time", "a task", "each further task", "processor time", "peak memory", "output"],
            list(rows(results)),
        )
    figures = [
        {
            "tasks": result["tasks"],
            "output_bytes": result["sizes"],
            "series": {kind: series.figures() for kind, series in result["series"].items()},
        }
        for result in results
    ]
    common.write_json(options, figures)


if __name__ == "__main__":
    main()
