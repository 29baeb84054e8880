#!/usr/bin/env python3
"""How long the first answer about a large program takes, and how much memory.

Live and from a core: `async backtrace all` with an empty cache, and again with what the first run
left there; beside it what gdb and lldb need to load the same executable, and what other commands
take. The page cache is warm: the executables were read from the disk. The answer is there before the
run has written its cache.
"""

import os
import shutil
import tempfile
from pathlib import Path

import common

# Name, size, types of task that are alive.
SUBJECTS = [
    ("large, 20 types", "large", 20),
    ("large, 1,700 types", "large", 1700),
    ("small, 20 types", "small", 20),
]
# Other commands of an incident.
OTHERS = ["async backtrace all -v", "async deadlocks", "async graph"]


class Subject:
    """A running program and its core."""

    def __init__(self, label, executable, types, directory):
        self.label = label
        self.executable = executable
        self.program = common.Program(executable, types)
        self.core = common.make_core(self.program.pid, directory / "core")
        self.series = {}

    def targets(self):
        yield "live", ["-p", self.program.pid]
        if self.core:
            yield "core", ["--exe", self.executable, "-c", self.core]

    def add(self, name, run):
        self.series.setdefault(name, common.Series()).add(run)


def ask(options, target, cache, output, *more):
    command = [options.asyncdbg, *target, *more, "async", "backtrace", "all"]
    env = {"XDG_CACHE_HOME": str(cache)}
    return common.Run(command, env=env, output=output, answer=True).expect(0, 1)


def check(subject, output):
    """An answer that lacks tasks is none."""
    tasks = sum(line.startswith("Task: ") for line in output.read_text().splitlines())
    expected = subject.program.truth["tasks"]
    if tasks != expected:
        raise SystemExit(f"{subject.label}: {tasks} tasks instead of {expected}")


def measure_asyncdbg(options, subject, directory, no_cache):
    output = directory / "answer"
    for kind, target in subject.targets():
        cache = directory / "cache"
        # On a virtual machine, memory that another program gave back may be the host's again: one
        # run that does not count gets it back.
        ask(options, target, cache, output)
        shutil.rmtree(cache, ignore_errors=True)
        for time in ("first", "second"):
            subject.add(f"{kind} {time}", ask(options, target, cache, output))
            check(subject, output)
        if no_cache:
            subject.add(f"{kind} without cache", ask(options, target, cache, output, "--no-cache"))


def measure_others(options, subject, directory):
    for words in OTHERS:
        command = [options.asyncdbg, "--no-cache", "-p", subject.program.pid, *words.split()]
        subject.add(words, common.Run(command, output=directory / "answer").expect(0, 1))


def measure_loads(subject, lldb):
    """What the others need before they could answer anything."""
    executable = subject.executable
    gdb = ["gdb", "-nx", "-batch"]
    subject.add("gdb", common.Run([*gdb, "-ex", "info line main", executable]).expect(0))
    subject.add("gdb, no question", common.Run([*gdb, executable]).expect(0))
    if lldb:
        command = [lldb, "--no-lldbinit", "--batch", "-o", f"target create {executable}"]
        subject.add("lldb", common.Run(command).expect(0))


def warm_up(path):
    """
    Brings a file into the page cache as a program that was installed gets there: read from the
    disk. What a linker has just written lies there page by page, and costs more to map; so does what
    comes back in parts after a kernel that reclaims cold pages (DAMON) took them.
    """
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 24):
            pass


def row(subject, kind, gdb, lldb):
    first = subject.series[f"{kind} first"]
    second = subject.series[f"{kind} second"]
    answered = first.median("answered")
    return [
        f"{subject.label}, {kind}",
        common.duration(answered),
        common.duration(first.seconds),
        common.duration(second.seconds),
        f"{first.seconds / second.seconds:.1f}",
        f"{max(first.peak_mb, second.peak_mb):.0f} MB",
        common.duration(gdb.seconds),
        f"{gdb.peak_mb:.0f} MB",
        f"{gdb.seconds / answered:.0f}",
        common.duration(lldb.seconds) if lldb else None,
        f"{lldb.peak_mb:.0f} MB" if lldb else None,
        f"{lldb.seconds / answered:.0f}" if lldb else None,
    ]


def print_sizes(options, executables):
    symbols = common.compile_probe(options.build, "symbols")
    figures = {}
    for name, path in executables.items():
        figures[name] = dict(common.probe(symbols, path), bytes=os.stat(path).st_size)
    common.table(
        ["executable", "size", "symbols", "one pass over the symbols"],
        [
            [
                name,
                f"{figure['bytes'] / 1e6:.0f} MB",
                f"{figure['symbols']:,}",
                common.duration(figure["us"] / 1e6),
            ]
            for name, figure in figures.items()
        ],
    )
    return figures


def print_growth(subjects, executables):
    """Large against small, with and without what reading the symbols takes."""
    by_label = {subject.label: subject for subject in subjects}
    large, small = by_label["large, 20 types"], by_label["small, 20 types"]
    extra = (executables["large"]["us"] - executables["small"]["us"]) / 1e6
    rows = []
    for kind, _ in large.targets():
        for time in ("first", "second"):
            a = large.series[f"{kind} {time}"].median("answered")
            b = small.series[f"{kind} {time}"].median("answered")
            cells = [
                common.duration(a),
                common.duration(b),
                f"{a / b:.2f}",
                f"{(a - extra) / b:.2f}",
            ]
            rows.append([f"{kind}, answer of the {time} run", *cells])
    common.table(
        ["20 types", "large", "small", "ratio", "ratio without one pass over the symbols"], rows
    )


def print_others(subjects):
    common.table(
        ["live, nothing cached", "time", "peak memory"],
        [
            [
                f"`{words}`, {subject.label}",
                common.duration(subject.series[words].seconds),
                f"{subject.series[words].peak_mb:.0f} MB",
            ]
            for words in OTHERS
            for subject in subjects
        ],
    )


def measure(options, profile):
    lldb = common.find_tool("lldb", "lldb-19")
    no_cache = "--no-cache" in common.capture([options.asyncdbg, "--help"])
    executables = {
        size: options.build / "large" / f"{size}-{profile}" for size in ("large", "small")
    }
    for path in executables.values():
        warm_up(path)
    print(f"### {profile} build\n")
    sizes = print_sizes(options, executables)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        subjects = [
            Subject(label, executables[size].resolve(), types, directory)
            for label, size, types in SUBJECTS
        ]
        for _ in range(options.runs):
            for subject in subjects:
                warm_up(subject.executable)
                measure_asyncdbg(options, subject, directory, no_cache)
                measure_others(options, subject, directory)
            for subject in subjects:
                if "1,700" not in subject.label:
                    warm_up(subject.executable)
                    measure_loads(subject, lldb)
        loads = {
            subject.executable: subject.series for subject in subjects if "gdb" in subject.series
        }
        rows = [
            row(
                subject,
                kind,
                loads[subject.executable]["gdb"],
                loads[subject.executable].get("lldb"),
            )
            for subject in subjects
            for kind, _ in subject.targets()
        ]
        states = {subject.program.state() for subject in subjects}
        for subject in subjects:
            subject.program.end()
    headings = [
        "`async backtrace all`",
        "first answer",
        "first run",
        "second run",
        "first / second",
        "peak memory",
        "gdb loads it",
        "peak",
        "gdb / first answer",
        "lldb loads it",
        "peak",
        "lldb / first answer",
    ]
    common.table(headings, rows)
    print_growth(subjects, sizes)
    print_others(subjects)
    print(f"The programs afterwards: {', '.join(sorted(states))}.\n")
    return {
        "executables": sizes,
        "subjects": {
            subject.label: {name: series.figures() for name, series in subject.series.items()}
            for subject in subjects
        },
    }


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--profile", action="append", choices=["debug", "release"])
    options = parser.parse_args()
    print(
        f"## First answer\n\n{options.runs} runs, medians (peaks: the largest). "
        f"{common.machine()}.\n"
    )
    profiles = options.profile or ["debug", "release"]
    common.write_json(options, {profile: measure(options, profile) for profile in profiles})


if __name__ == "__main__":
    main()
