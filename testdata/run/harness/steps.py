"""The program `steps`, whose walkers take a step for each order that it reads."""
import json
import os
import pathlib
import re
import subprocess

from harness.checks import Failure, expect
from harness.session import LIMIT

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "programs/steps/src/main.rs"
WALKERS = 5


def line_in(source, text):
    """The number of the first line of a file that has the text."""
    return next(n for n, line in enumerate(source.read_text().splitlines(), 1) if text in line)


def line_of(text):
    return line_in(SOURCE, text)


FIRST = line_of("let first = orders.recv().await")
SECOND = line_of("let second = orders.recv().await")


def truth_of(done):
    """What the program said of itself, of a run of asyncdbg that started it."""
    truth = re.search(r'^\{"walkers".*$', done.stdout, re.M)
    return json.loads(truth.group()) if truth else None


def tracer_of(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^TracerPid:\s*(\d+)", status, re.M).group(1))


class Steps:
    """The program, started by the test and ready."""

    def __init__(self, steps, **options):
        self.process = subprocess.Popen([steps], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        self.pid = self.process.pid
        self.ids = [str(number) for number in json.loads(self.process.stdout.readline())["walkers"]]
        expect("ready", "ready\n", self.process.stdout.readline())
        self.code = self.read_code()

    def read_code(self):
        """The bytes of the code of its executable."""
        maps = pathlib.Path(f"/proc/{self.pid}/maps").read_text()
        start, end = next(m.groups() for m in re.finditer(r"^(\w+)-(\w+) r-xp .*/steps$", maps, re.M))
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(int(start, 16))
            return memory.read(int(end, 16) - int(start, 16))

    def wait_running(self):
        """Until it does not stand still any more."""
        while pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "t":
            os.sched_yield()

    def order(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def obey(self, line):
        """Gives an order, and waits until it is done."""
        self.order(line)
        while "done" not in (answer := self.process.stdout.readline()):
            if not answer:
                raise Failure(f"the program ended: {self.process.wait(LIMIT)}")

    def end(self, what="its end"):
        self.process.stdin.close()
        expect(what, 0, self.process.wait(LIMIT))

    def check_free(self, what):
        """Nobody traces it, its code is as before, and it obeys its orders."""
        expect(f"{what}: tracer", 0, tracer_of(self.pid))
        expect(f"{what}: code", True, self.read_code() == self.code)
        self.obey("walk 4")
        self.end(f"{what}: its end")
