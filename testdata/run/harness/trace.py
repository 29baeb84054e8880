"""
What the scripts that trace programs share: the programs, asyncdbg beside them, and waiting
for what both do.
"""
import functools
import json
import os
import subprocess
import sys
import tempfile
import time

from harness.checks import check

# Seconds for each step: beside fifty others the kernel alone needs more than one minute to take breakpoints away.
WAIT = 300
OVERRUN = 200_000  # polls; there is room for about 150,000 events, and each poll has two or more
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # testdata/run
CHECKS = os.path.join(HERE, "..", "check")
SCHEMA = os.path.join(HERE, "..", "..", "docs", "asyncdbg.schema.json")
slow = []  # the option --allow-slow, for builds that need it


def take_slow(arguments):
    """The arguments without --allow-slow, which is kept for asyncdbg."""
    slow[:] = [word for word in arguments if word == "--allow-slow"][:1]
    return [word for word in arguments if word != "--allow-slow"]


def wait_for(holds, seconds=WAIT):
    """Asks again and again, of what cannot be waited for; the answer, once it is true or time is over."""
    limit = time.monotonic() + seconds
    while not (answer := holds()) and time.monotonic() < limit:
        time.sleep(0.02)
    return answer


def child_of(pid):
    def child():
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return file.read().split()

    children = wait_for(child)
    if not children:
        sys.exit("the program was not started")
    return int(children[0])


def truth_of(lines):
    """The numbers that a program has counted itself, of its lines."""
    return {words[1]: int(words[2]) for words in map(str.split, lines) if words[:1] == ["truth"]}


class Program:
    """A program that prints "ready", and runs each section whose name is written to it."""

    def __init__(self, *words, **options):
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True, **options)
        self.lines_until("ready")

    def lines_until(self, last):
        lines = []
        for line in self.child.stdout:
            if line.strip() == last:
                return lines
            lines.append(line)
        raise SystemExit(f"the program ended before it printed {last}")

    def begin(self, section):
        self.child.stdin.write(section + "\n")
        self.child.stdin.flush()

    def truth(self):
        """Its own counts, when the section is over."""
        return truth_of(self.lines_until("done"))

    def run(self, section):
        self.begin(section)
        return self.truth()

    def overrun(self):
        """Runs until it has had more events than the kernel's buffer has room for; how many polls that were."""
        polls = 0
        while polls < OVERRUN:
            polls += self.run("flat 1 2")["polls"]
        return polls

    def wait_for_task(self, asyncdbg, text):
        """Until a line of `tasks` has a text."""
        words = [asyncdbg, "-p", str(self.child.pid), "tasks"]
        shown = wait_for(lambda: text in subprocess.run(words, capture_output=True, text=True, timeout=WAIT).stdout)
        check(f"a task with {text}", shown, True)

    def end(self):
        self.child.stdin.close()
        self.child.wait(WAIT)

    def kill(self):
        self.child.kill()
        self.child.wait(WAIT)


class Asyncdbg:
    """asyncdbg while it runs on; what it says can be read at any time."""

    def __init__(self, *words):
        self.errors = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def message(self):
        # Opened anew: the place at which asyncdbg writes is not moved.
        with open(f"/proc/self/fd/{self.errors.fileno()}", encoding="utf-8") as file:
            return file.read()

    def wait_for_message(self, text):
        """Until it says a text, or has ended."""
        return wait_for(lambda: text in self.message() or self.child.poll() is not None)


class Trace(Asyncdbg):
    """A trace of a program: its header, and once it is finished its events and the end of its output."""

    def __init__(self, asyncdbg, pid, options):
        super().__init__(asyncdbg, "-p", str(pid), "--jsonl", "trace", *options)
        self.first = self.child.stdout.readline()
        self.head = json.loads(self.first) if self.first else None

    def finish(self):
        self.lines = self.child.stdout.readlines()
        *rows, self.end = map(json.loads, self.lines)
        self.status = self.child.wait(WAIT)
        self.items = [row for row in rows if "event" in row]
        self.places = {row["place"]: row for row in rows if "event" not in row}


def is_refused(message):
    return "probes are not available" in message or "refused" in message


def leave_out_refused(message):
    """Ends the script where the kernel refuses probes to us."""
    if is_refused(message):
        print(f"left out: {message.strip()}")
        sys.exit(77)


def check_calls(asyncdbg, calls, before=()):
    """Calls that cannot be answered: words after those BEFORE, the exit status, a part of the message."""
    for words, status, text in calls:
        done = subprocess.run([asyncdbg, *before, *words], capture_output=True, text=True, timeout=WAIT)
        check(f"status of {words}: {done.stderr}", done.returncode, status)
        check(f"message of {words}: {done.stderr}", text in done.stderr, True)
        check(f"output of {words}", done.stdout, "")


@functools.cache
def has_jsonschema():
    done = subprocess.run(["/usr/bin/python3", "-c", "import jsonschema"], stderr=subprocess.DEVNULL)
    if done.returncode:
        print("left out: the JSON schema: python3-jsonschema is missing")
    return not done.returncode


def check_schema(what, *files):
    """Files with a document each, or those of --jsonl."""
    done = subprocess.run([os.path.join(CHECKS, "validate_json.py"), SCHEMA, *files], capture_output=True, text=True)
    check(f"{what}: the schema: {done.stdout}{done.stderr[-300:]}", done.returncode, 0)


def check_schema_of(what, texts, ending=".json"):
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for number, text in enumerate(texts):
            files.append(os.path.join(directory, f"{number}{ending}"))
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(text)
        check_schema(what, *files)
