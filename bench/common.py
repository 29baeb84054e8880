"""What the measurements share: programs under observation, measured commands, tables."""

import argparse
import contextlib
import json
import os
import platform
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DEADLINE = 600


def parser(doc, runs=5):
    """The options that every measurement has."""
    options = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--asyncdbg", default=ROOT / "build/release/asyncdbg", type=Path)
    options.add_argument(
        "--build", default=ROOT / "build/bench", type=Path, help="where bench/run has built"
    )
    options.add_argument("--runs", default=runs, type=int, help="of each command")
    options.add_argument("--json", type=Path, help="write all figures to this file")
    return options


class Program:
    """A program that said `ready` and a line of JSON, and ends with its stdin."""

    def __init__(self, *command, env=None):
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self.pid = self.process.pid
        ready = self.process.stdout.readline()
        if ready != "ready\n":
            raise SystemExit(f"{command[0]} is not ready: {ready!r}")
        self.truth = json.loads(self.process.stdout.readline())

    def ask(self):
        """Sends an empty line and returns the answer."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def state(self):
        """`runs` where it is there and no thread of it is stopped or traced."""
        for _ in range(40):
            if self.process.poll() is not None:
                return f"ended with {self.process.returncode}"
            if not any(held(thread) for thread in Path(f"/proc/{self.pid}/task").iterdir()):
                return "runs"
            time.sleep(0.05)
        return "is stopped"

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def held(thread):
    try:
        lines = (thread / "status").read_text().splitlines()
    except OSError:
        return False
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return fields["State"].strip()[0] in "tT" or fields["TracerPid"].strip() != "0"


@contextlib.contextmanager
def running(*command, env=None):
    program = Program(*command, env=env)
    try:
        yield program
    finally:
        program.end()


class Run:
    """One command: seconds, MB of peak resident memory, CPU seconds, exit status."""

    def __init__(self, command, env=None, output=None, cwd=None, answer=False):
        """
        `output`: the file that gets stdout. `answer`: takes the time when its last byte came too,
        as `answered`, in seconds; what the command does afterwards, nobody waits for.
        """
        with contextlib.ExitStack() as stack:
            sink = stack.enter_context(open(output or os.devnull, "wb"))
            self.errors = stack.enter_context(tempfile.TemporaryFile())
            begin = time.monotonic()
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if answer else sink,
                stderr=self.errors,
                env=dict(os.environ, **(env or {})),
                cwd=cwd,
            )
            alarm = threading.Timer(DEADLINE, process.kill)
            alarm.start()
            reader = threading.Thread(target=self.read_answer, args=(process, sink, begin))
            if answer:
                reader.start()
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.monotonic() - begin
            alarm.cancel()
            if answer:
                reader.join()
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.cpu = usage.ru_utime + usage.ru_stime
            self.peak_mb = usage.ru_maxrss / 1024
            self.errors.seek(0)
            self.errors = self.errors.read().decode(errors="replace")

    def read_answer(self, process, sink, begin):
        self.answered = 0
        with process.stdout:
            while piece := os.read(process.stdout.fileno(), 1 << 20):
                self.answered = time.monotonic() - begin
                sink.write(piece)

    def expect(self, *statuses):
        if self.status not in statuses:
            raise SystemExit(f"ended with {self.status}: {self.errors[-2000:]}")
        return self


class Series:
    """Runs of one command."""

    def __init__(self):
        self.runs = []

    def add(self, run):
        self.runs.append(run)
        return run

    def median(self, attribute):
        return statistics.median(getattr(run, attribute) for run in self.runs)

    @property
    def seconds(self):
        return self.median("seconds")

    @property
    def peak_mb(self):
        return max(run.peak_mb for run in self.runs)

    def figures(self):
        return {
            "seconds": [run.seconds for run in self.runs],
            "answered": [getattr(run, "answered", None) for run in self.runs],
            "cpu_seconds": [run.cpu for run in self.runs],
            "peak_mb": [run.peak_mb for run in self.runs],
            "median_seconds": self.seconds,
        }


def compile_probe(build, name, *libraries):
    """The path of a C program of this directory, compiled if need be."""
    source, binary = HERE / f"{name}.c", build / name
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        build.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-std=gnu11", source, "-o", binary, *libraries], check=True)
    return binary


def probe(binary, *arguments):
    """What a C program of this directory answers."""
    output = subprocess.run(
        [str(word) for word in (binary, *arguments)], check=True, capture_output=True, timeout=120
    ).stdout
    return json.loads(output)


def find_tool(*names):
    """The path of the first of these tools that is there, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def capture(command):
    """What a command says, on both outputs."""
    run = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        check=False,
    )
    return run.stdout.decode(errors="replace")


def make_core(pid, path):
    """Writes a core of the process with gdb's gcore; None where that is missing."""
    if not find_tool("gcore"):
        return None
    subprocess.run(
        ["gcore", "-o", path, str(pid)],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return Path(f"{path}.{pid}")


def head_of_jsonl(path):
    """The first line of an answer in JSONL, and how many lines follow it."""
    with open(path, "rb") as file:
        head = json.loads(file.readline())
        return head, sum(1 for _ in file)


def duration(seconds):
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            value = seconds * factor
            return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def table(headings, rows):
    """Prints a Markdown table; columns of figures are to the right."""
    print("| " + " | ".join(headings) + " |")
    print("| --- |" + " ---: |" * (len(headings) - 1))
    for row in rows:
        print("| " + " | ".join("-" if cell is None else str(cell) for cell in row) + " |")
    print()


def machine():
    """One line about where this runs."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} CPUs ({model}), {memory:.0f} GiB, Linux {platform.release()}, "
        f"load {load:.1f} at the start"
    )


def write_json(options, figures):
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
