#!/usr/bin/env python3
"""Runs every command on a stopped program: not one byte of it may change.

usage: run_untouched.py ASYNCDBG [EXECUTABLE]

EXECUTABLE is programs/joins; without one it is built with the newest lock. It gets SIGSTOP, so that
nothing of it runs before, between and after the commands. Each mapping that is writable or
executable is compared before and after each command, by all of its bytes. The comparison is tried
on bytes that this script changes. Exit status 77 where there is no cargo.
"""

import functools
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
OPTIONS = [[], ["--stop-all"], ["--no-stop"], ["--max-pause", "5ms"]]
# The kernel's own, which cannot be read.
NOT_MEMORY = {"[vvar]", "[vvar_vclock]", "[vsyscall]"}


def build():
    script = f""". {TESTDATA}/../scripts/lib.sh; find_cargo || exit 77
        "{TESTDATA}/make/build_programs.sh" "$(newest_lock)" debug joins | tail -n 1"""
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return pathlib.Path(done.stdout.strip()) / "joins"


def mappings(pid):
    """Those that are writable or executable: (line, start, end)."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(maxsplit=5)
        name = words[5] if len(words) > 5 else ""
        if name not in NOT_MEMORY and ("w" in words[1] or "x" in words[1]):
            start, end = (int(word, 16) for word in words[0].split("-"))
            yield line, start, end


def hashes(pid):
    """By the line of /proc/PID/maps, so that a new mapping is a difference too."""
    found = {}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line, start, end in mappings(pid):
            digest = hashlib.blake2b()
            for at in range(start, end, 1 << 20):
                size = min(1 << 20, end - at)
                piece = os.pread(memory.fileno(), size, at)
                if len(piece) != size:
                    sys.exit(f"cannot read {line}")
                digest.update(piece)
            found[line] = digest.digest()
    return found


def differences(before, after):
    return [line for line in before.keys() | after.keys() if before.get(line) != after.get(line)]


def write_byte(pid, at, value=None):
    """Flips a byte, or sets it to value; returns what it was."""
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        old = os.pread(memory.fileno(), 1, at)
        os.pwrite(memory.fileno(), value or bytes([old[0] ^ 1]), at)
    return old


def self_test(pid):
    """The last byte of a mapping of each kind: it must be noticed."""
    before = hashes(pid)
    kinds = {}
    for line, _, end in mappings(pid):
        if "[vdso]" not in line:
            kinds[line.split()[1]] = (line, end - 1)
    assert any("x" in kind for kind in kinds) and any("w" in kind for kind in kinds), kinds
    for line, at in kinds.values():
        old = write_byte(pid, at)
        if differences(before, hashes(pid)) != [line]:
            sys.exit(f"a changed byte was not noticed in {line}")
        write_byte(pid, at, old)
    if differences(before, hashes(pid)):
        sys.exit("the self-test has not put back what it changed")


@functools.cache
def ending(asyncdbg, command):
    """The options with which a command ends that runs on otherwise."""
    text = subprocess.run([asyncdbg, "help", command], check=False, capture_output=True, text=True).stdout
    if "--duration" in text:
        return ["--duration", "100ms"]
    return ["--interval", "100ms", "--count", "1"] if command == "top" else []


# Commands that hold the program and change it.
CONTROL = ("run", "attach", "continue", "detach", "kill", "next", "step", "finish", "until", "stepi", "nexti", "break",
           "tbreak", "logpoint", "delete", "enable", "disable", "condition", "catch", "handle", "signal", "interrupt",
           "watch", "rwatch", "awatch", "set", "dap")


def commands(asyncdbg, executable, pid, work):
    """All that `help` lists, with the arguments it names; each also without the optional ones."""
    address = hex(next(mappings(pid))[1])
    values = {"ID": "1", "N": "0", "NAME": "joins::main", "REGEX": "joins", "EXPR": "self", "ADDR": address, "EXE": str(executable),
              "COMMAND": "tasks", "A": f"{work}/first.snapshot", "B": f"{work}/first.snapshot",
              "FILE": f"{work}/again.snapshot", "FILE.html": f"{work}/page.html",
              "FILE:LINE": "main.rs:1", "FUNCTION": "joins::main", "/FORMAT": "/8xb", "ADDRESS": address,
              "REGISTER...": "rsp", "SIGNAL": "2"}
    text = subprocess.run([asyncdbg, "help"], check=True, capture_output=True, text=True).stdout
    yield ["save", values["A"]]
    for line in text.splitlines():
        usage = re.split(r"\s{2,}", line.strip())[0]
        if not usage or usage.split()[0] in CONTROL:
            continue
        short = re.sub(r"\[.*\]", "", usage).split()
        # Of alternatives the first one.
        long = re.sub(r" *\| *[^\] |]+", "", usage).replace("[", " ").replace("]", " ").split()
        for words in [short] + [long] * (long != short):
            words = [values.get(word, word) for word in words]
            if any(word.isupper() for word in words):
                sys.exit(f"`{usage}`: say here what its argument may be")
            yield words + ending(asyncdbg, words[0])


def run(asyncdbg, pid, words, work):
    for name in ["again.snapshot", "page.html"]:
        (work / name).unlink(missing_ok=True)
    done = subprocess.run([asyncdbg, "-p", str(pid), *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)
    # 4: diff found nothing new. 64: it needs an argument, or is for the prompt.
    if done.returncode not in (0, 1, 2, 3, 4, 64):
        sys.exit(f"{words}: exit code {done.returncode}: {done.stderr}")
    return done.returncode not in (2, 64)


def check(asyncdbg, executable, pid, work):
    before = hashes(pid)
    failures, total, answered = 0, 0, 0
    for option in OPTIONS:
        for words in commands(asyncdbg, executable, pid, work):
            total += 1
            answered += run(asyncdbg, pid, option + words, work)
            after = hashes(pid)
            for line in differences(before, after):
                failures += 1
                print(f"{' '.join(option + words)}: changed {line}")
            before = after
    # Most need no more than what the program has.
    if answered < total * 2 // 3:
        sys.exit(f"only {answered} of {total} commands had an answer")
    print(f"{total} commands, {answered} with an answer, {len(before)} mappings, "
          f"{failures} changed")
    return failures


def main():
    asyncdbg = os.path.realpath(sys.argv[1])
    executable = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else build())
    program = subprocess.Popen([executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    try:
        for line in program.stdout:
            if line == "ready\n":
                break
        program.send_signal(signal.SIGSTOP)
        while any((task / "stat").read_text().rpartition(")")[2].split()[0] != "T"
                  for task in pathlib.Path(f"/proc/{program.pid}/task").iterdir()):
            time.sleep(0.01)
        self_test(program.pid)
        with tempfile.TemporaryDirectory() as work:
            sys.exit(check(asyncdbg, executable, program.pid, pathlib.Path(work)) > 0)
    finally:
        program.kill()
        program.wait()


main()
