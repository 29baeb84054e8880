#!/usr/bin/env python3
"""What `profile --cpu` costs a program that computes in its polls.

The program `traced` runs its section `share`, whose rounds are of equal work, alone, under `profile`
and under `profile --cpu` at several rates, in turns. Its processor time is that of getrusage(2): the
samples that the kernel takes are part of it. asyncdbg's own time is a share of the program's, since
there are samples only while that is on a processor.
"""

import json
import os
import signal
import statistics
import subprocess
from pathlib import Path

import common
import trace

WAYS = {
    "alone": None,
    "`profile`": [],
    "`profile --cpu`": ["--cpu"],
    "`profile --cpu --rate 499`": ["--cpu", "--rate", "499"],
    "`profile --cpu --rate 4999`": ["--cpu", "--rate", "4999"],
}
TICKS = os.sysconf("SC_CLK_TCK")
POLLS = "polls.traced::load::sharing"


def parser():
    options = common.parser(__doc__)
    options.add_argument("--program", type=Path, help="the program `traced`, a release build")
    options.add_argument("--seconds", default=5, type=int, help="of each run")
    return options


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / TICKS


class Profile:
    """asyncdbg, from when it sees what happens."""

    def __init__(self, options, pid, words):
        command = [options.asyncdbg, "-p", str(pid), "--json", "profile", "--duration", "1h"]
        self.process = subprocess.Popen(
            [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while "profiling process" not in self.process.stderr.readline():
            if self.process.poll() is not None:
                raise SystemExit("asyncdbg cannot profile here")
        self.before = cpu_seconds(self.process.pid)

    def end(self):
        used = cpu_seconds(self.process.pid) - self.before
        self.process.send_signal(signal.SIGINT)
        document = json.loads(self.process.communicate()[0])
        return used, document["profile"].get("cpu", {"samples": 0})["samples"]


def one_run(options, words):
    program = trace.Traced(options.program)
    profile = Profile(options, program.pid, words) if words is not None else None
    truth = program.run(f"share {options.seconds}")
    used, samples = profile.end() if profile else (0, 0)
    program.end()
    return {
        "round_ns": truth["cpu_ns"] / truth[POLLS],
        "cpu_s": truth["cpu_ns"] / 1e9,
        "asyncdbg_s": used,
        "samples": samples,
    }


def row(name, runs, base):
    more = [run["round_ns"] / other["round_ns"] - 1 for run, other in zip(runs, base)]
    return [
        name,
        f"{statistics.median(run['round_ns'] for run in runs) / 1e3:.1f} us",
        trace.spread(more, lambda part: f"{part:.1%}") if runs is not base else None,
        f"{statistics.median(run['asyncdbg_s'] / run['cpu_s'] for run in runs):.1%}"
        if runs is not base
        else None,
        f"{statistics.median(run['samples'] / run['cpu_s'] for run in runs):,.0f}",
    ]


def main():
    options = parser().parse_args()
    if not options.program:
        raise SystemExit("--program: no path of `traced`; testdata/make/build_programs.sh builds it")
    runs = {name: [] for name in WAYS}
    for _ in range(options.runs):
        for name, words in WAYS.items():
            runs[name].append(one_run(options, words))
    print(f"{options.runs} runs of {options.seconds} s each, in turns. {common.machine()}.\n")
    headings = ["", "a round", "more", "asyncdbg, of the program's time", "samples a second of it"]
    common.table(headings, [row(name, of, runs["alone"]) for name, of in runs.items()])
    print(f"Load at the end: {os.getloadavg()[0]:.1f}.\n")
    common.write_json(options, runs)


if __name__ == "__main__":
    main()
