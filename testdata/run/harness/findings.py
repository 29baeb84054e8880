"""What `check` finds in a program that has reached its situation: ready() runs one, findings() looks at it."""
import contextlib
import json
import subprocess
import sys

from harness.checks import expect, expect_in

INTERVAL = "200ms"


def run_check(asyncdbg, *target):
    done = subprocess.run([asyncdbg, "--json", *target, "check", "--interval", INTERVAL], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"check: status {done.returncode}, {done.stderr}")
    return json.loads(done.stdout)


def findings(answer, check):
    return [each for each in answer["findings"] if each["check"] == check]


@contextlib.contextmanager
def ready(program, mode):
    with subprocess.Popen([program, mode], stdout=subprocess.PIPE, text=True) as process:
        try:
            expect(mode, "ready\n", process.stdout.readline())
            yield process.pid
        finally:
            process.kill()


def expect_finding(mode, found, parts, certain):
    """The only finding, with these parts in its text; without parts there is none."""
    expect(f"{mode}: findings", 1 if parts else 0, len(found))
    for part in parts or []:
        expect_in(mode, part, found[0]["text"])
    if parts:
        expect(f"{mode}: possible", not certain, found[0]["possible"])
