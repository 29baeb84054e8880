#!/usr/bin/env python3
"""What it costs to look through the target's memory for tasks that no thread leads to.

The same command with the default limits, without looking at all, and without limits, in turns. The
target runs meanwhile: the pause is what asyncdbg says of it.
"""

import json
import statistics
import tempfile
from pathlib import Path

import common

PROGRAMS = {
    "20 tasks": ["20"],
    "100,000 tasks": ["100000"],
    "20 tasks, 256 MiB of heap": ["20", "--heap", "256"],
    "20 tasks, 1 GiB of heap": ["20", "--heap", "1024"],
}
LIMITS = {"1 GiB, 200 ms": None, "not at all": "0", "no limit": "1000000,100000"}


def ask(options, program, limit, output):
    env = {} if limit is None else {"ASYNCDBG_SCAN": limit}
    command = [options.asyncdbg, "-p", program.pid, "--jsonl", "runtimes"]
    run = common.Run(command, env=env, output=output).expect(0, 1)
    document = json.loads(output.read_text().splitlines()[0])
    run.pause_ms = document["pause_ms"]
    run.complete = document["complete"]
    return run


def measure(options, words):
    scale = options.build / "programs/release/scale"
    series = {name: common.Series() for name in LIMITS}
    with tempfile.TemporaryDirectory() as name, common.running(scale, *words) as program:
        output = Path(name) / "answer"
        for limit in LIMITS.values():
            ask(options, program, limit, output)
        for _ in range(options.runs):
            for name, limit in LIMITS.items():
                series[name].add(ask(options, program, limit, output))
    return series


def row(program, name, series):
    pause = statistics.median(run.pause_ms for run in series.runs)
    complete = sum(run.complete for run in series.runs)
    return [
        f"{program}, {name}",
        common.duration(series.seconds),
        common.duration(series.median("cpu")),
        f"{pause:.3f} ms",
        f"{complete} of {len(series.runs)}",
    ]


def main():
    options = common.parser(__doc__).parse_args()
    print(
        f"## Looking through memory\n\n{options.runs} runs, medians of `runtimes`. "
        f"{common.machine()}.\n"
    )
    results = {name: measure(options, words) for name, words in PROGRAMS.items()}
    rows = [
        row(program, name, series)
        for program, by_limit in results.items()
        for name, series in by_limit.items()
    ]
    common.table(["program, memory looked through", "time", "processor time", "pause",
                  "complete"], rows)
    figures = {
        program: {name: series.figures() for name, series in by_limit.items()}
        for program, by_limit in results.items()
    }
    common.write_json(options, figures)


if __name__ == "__main__":
    main()
