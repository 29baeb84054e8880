#!/usr/bin/env python3
"""Types at the prompt of asyncdbg, on a terminal of its own and a committed core, and compares what
it says.

usage: run_prompt.py ASYNCDBG
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import termios

from harness.prompt import PROMPT, Prompt

TESTDATA = pathlib.Path(__file__).resolve().parents[1]


def unpack(fixture, folder):
    for kind in ("core", "exe"):
        packed = next((TESTDATA / "fixtures").glob(f"{fixture}*.{kind}.zst"))
        subprocess.run(["zstd", "-qdf", packed, "-o", f"{folder}/{fixture}.{kind}"], check=True)


def check(prompt, fails):
    def wants(line, pattern, answer=None, absent=False):
        answer = prompt.ask(line) if answer is None else answer
        if bool(re.search(pattern, answer, re.M)) == absent:
            fails.append(f"{line}: {answer!r} has {'' if absent else 'no '}{pattern!r}")

    first = prompt.read_until(PROMPT)
    wants("info", r"^Core: ", first)
    # What was read is printed once.
    for line in ("tasks", "runtimes", "async bt"):
        wants(line, "^asyncdbg: core", absent=True)
    wants("info", "^asyncdbg: core")
    wants("tassk", r'did you mean "tasks"\?')
    wants("dprintf", 'the command "dprintf" does not exist')
    wants("logpoint walk 'n is {n}'", "only a running program can have breakpoints")
    for line in ("watch str", "rwatch str", "awatch str if str.a > 3"):
        wants(line, "no program is being debugged")
    wants("continue", "a core or a snapshot cannot run")
    wants("detach", "a core or a snapshot cannot run")
    wants("!echo hel''lo", "^hello$")
    wants("!", "a shell command must follow")
    wants("tasks | wc -l", r"^ *[0-9]+$")
    wants("runtimes; tasks | grep -c ID", r"^1$")
    wants("tasks | head -c 2; echo", r"^ID$")
    # An empty line repeats what steps or shows, and nothing else.
    wants("runtimes", "^RUNTIME")
    wants("", "^RUNTIME", absent=True)
    wants("tasks", "^ID +STATE")
    wants("", "^ID +STATE")
    wants("  ", "^ID +STATE")
    wants("x/2xb $sp", "^0x[0-9a-f]+:")
    wants("", "^0x[0-9a-f]+:")
    wants("tasks | false", "unknown", absent=True)
    wants("tasks | cat", r"^ID +STATE")
    wants("s", "no program is being debugged")
    wants("task 3", "^ *#0|frame|Task")
    wants("frame 1; info locals", r"^ *argument stream: .*\n *buf: ")
    for line, answer in (("print str", "^stream: .*TcpStream = "), ("print b", r"^buf: \[u8"),
                         ("p stream.i", r"^stream\.io: "),
                         ("print stream.io.reg", r"^stream\.io\.registration: "),
                         ("print stream.zzz", "no member `zzz`"), ("runt", "^RUNTIME +FLAVOR"),
                         ("catch task-p", "only a running program"),
                         ("async task 3", "^Task: 3")):
        wants(f"{line}<Tab>", answer, prompt.complete(line))
    # What is not there is named in the answer, as far as it was completed.
    for line, rest, answer in (("list tokio_tcp::mai", "x", 'unexpected argument "x"'), ("list main.r", "x", '"x" is not a line'),
                               ("list src/mai", "x", '"x" is not a line'), ("list mai", "x", "named mainx")):
        wants(f"{line}<Tab>", answer, prompt.complete(line, rest))
    wants("bt 2", r"^#1 ")
    wants("bt 2", r"^#2 ", absent=True)
    wants("bt 2", "^asyncdbg: 2 of [0-9]+ frames are shown")
    wants("bt -1", r"^#0 ", absent=True)
    wants("bt x", "is not a number of frames")


def check_questions(prompt, fails):
    """`delete` alone asks; a command of the command line has not."""
    first = prompt.read_until(PROMPT)
    if "(y or n)" in first or "no breakpoints" not in first:
        fails.append(f"delete on the command line: {first!r}")
    for word in ("one", "two"):
        prompt.ask(f"break {word}")
    for reply, left in (("n", 2), ("maybe\ny", 0)):
        os.write(prompt.fd, b"delete\n")
        prompt.read_until(b"Delete all breakpoints? (y or n) ")
        for word in reply.split("\n")[:-1]:
            os.write(prompt.fd, word.encode() + b"\n")
            prompt.read_until(b"Please answer y or n.\r\nDelete all breakpoints? (y or n) ")
        answer = prompt.ask(reply.split("\n")[-1])
        if len(re.findall("^breakpoint [0-9]", answer, re.M)) != left:
            fails.append(f"delete, {reply!r}: {answer!r}")
    if "(y or n)" in prompt.ask("delete"):
        fails.append("delete asks where there is no breakpoint")


def check_stopped(prompt, fails):
    """^Z at the prompt gives the terminal back as it was, and the line is there again afterwards."""
    prompt.read_until(PROMPT)
    prompt.wait_for_modes(of_prompt=True)
    os.write(prompt.fd, b"dprin")
    prompt.read_until(b"dprin")
    os.write(prompt.fd, b"\x1a")
    if not os.WIFSTOPPED(prompt.wait_for_state(os.WUNTRACED)):
        sys.exit("^Z at the prompt has ended it")
    if not termios.tcgetattr(prompt.fd)[3] & termios.ICANON:
        fails.append("^Z leaves the terminal as the prompt had it")
    os.kill(prompt.pid, signal.SIGCONT)
    prompt.read_until(PROMPT + b"dprin")
    if termios.tcgetattr(prompt.fd)[3] & termios.ICANON:
        fails.append("the terminal is not the prompt's again")
    answer = prompt.ask("tf")
    if 'the command "dprintf" does not exist' not in answer:
        fails.append(f"dprin, ^Z, tf: {answer!r}")
    # ^C discards a line; letters may have several bytes.
    os.write(prompt.fd, "quit ä".encode())
    prompt.read_until("quit ä".encode())
    os.write(prompt.fd, b"\x03")
    prompt.read_until(PROMPT)
    answer = prompt.ask("ö")
    if 'unknown command "ö"' not in answer:
        fails.append(f"ö: {answer!r}")


def check_program(prompt, fails):
    """A program that reads the terminal, which ^Z and ^C halt."""
    for key, number in ((b"\x1a", "SIGTSTP"), (b"\x03", "SIGINT")):
        os.write(prompt.fd, b"run -- cat\n" if number == "SIGTSTP" else b"continue\n")
        prompt.read_until(b"\n")
        prompt.wait_for_modes(of_prompt=False)
        os.write(prompt.fd, b"word\n")
        for _ in ("as it was typed", "as the program repeats it"):
            prompt.read_until(b"word\r\n")
        os.write(prompt.fd, key)
        answer = prompt.read_until(b"attached) ")
        if f"signal {number}" not in answer:
            fails.append(f"a key for {number}: {answer!r}")
    # A second run asks.
    for reply, ended in ((b"n\n", False), (b"y\n", True)):
        os.write(prompt.fd, b"run --stop\n")
        question = prompt.read_until(b"start again? (y or n) ")
        process = re.search(r"Process (\d+) is being debugged", question)[1]
        os.write(prompt.fd, reply)
        prompt.read_until(b"attached) ")
        if os.path.exists(f"/proc/{process}") == ended:
            fails.append(f"run while a program is being debugged, {reply!r}: process {process} exists: {not ended}")
    prompt.ask("kill")


def check_modes(prompt, fails):
    """The modes that a program sets are its own: a stop gives ours back, and the program finds them again."""
    def ask(line, end=b"attached) "):
        os.write(prompt.fd, line.encode() + b"\n")
        return prompt.read_until(end)

    stopped = ask("run -- sh -c 'stty -echo; kill -TSTP $$; stty -a; stty tostop'")
    for name, answer, echo in (("at a stop", ask("!stty -a"), " echo "), ("in the program", ask("continue", PROMPT), " -echo "),
                               ("after its end", ask("!stty -a", PROMPT), " echo "),
                               ("after its end", ask("!stty -a", PROMPT), " -tostop")):
        if echo not in answer:
            fails.append(f"modes of the terminal {name}: no {echo!r} in {answer!r}, after {stopped!r}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    fails = []
    with tempfile.TemporaryDirectory() as folder:
        unpack("tokio_tcp", folder)
        prompt = Prompt([os.path.abspath(sys.argv[1]), "./tokio_tcp.exe", "tokio_tcp.core"], folder)
        check(prompt, fails)
        prompt.end()
        prompt = Prompt([os.path.abspath(sys.argv[1]), "-e", "break one", "-e", "delete"], folder)
        check_questions(prompt, fails)
        prompt.end()
        prompt = Prompt([os.path.abspath(sys.argv[1])], folder)
        check_stopped(prompt, fails)
        check_program(prompt, fails)
        check_modes(prompt, fails)
        prompt.end()
    for line in fails:
        print(line)
    print("prompt: " + (f"{len(fails)} failed" if fails else "ok"))
    sys.exit(bool(fails))


if __name__ == "__main__":
    main()
