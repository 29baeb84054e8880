#!/usr/bin/env python3
"""Debugs the program `steps` and checks what is shown at its stops: source text,
machine code, memory, registers, and the variables of its native frames.

usage: run_look.py ASYNCDBG STEPS
"""
import json
import pathlib
import re
import subprocess
import sys

from harness.checks import expect
from harness.session import LIMIT, run_commands
from harness.steps import SECOND, SOURCE

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
TEXT = SOURCE.read_text().splitlines()


def ask(asyncdbg, steps, commands, orders="walk 0\n"):
    """The answers of commands, one a line, at the second await of the first walker."""
    first = [f"set source-map /src={PROGRAMS}", f"break main.rs:{SECOND}", f"run -- {steps}"]
    answers, done = run_commands(asyncdbg, [*first, *commands, "kill"], orders)
    expect("the end", ("killed", 0), (answers[-1].get("stopped", {}).get("reason"), done.returncode))
    return answers[1:-1], done.stderr


def check_source(asyncdbg, steps):
    (stop, around, behind, before), _ = ask(asyncdbg, steps, ["list", "list", "list 1"])
    stop = stop["stopped"]
    expect("line", (SECOND, TEXT[SECOND - 1]), (stop["line"], stop["source"]))
    listing = around["listing"]
    expect("current line", SECOND, listing["current"])
    expect("path", str(PROGRAMS / "steps/src/main.rs"), listing["path"])
    expect("lines", list(range(SECOND - 5, SECOND + 5)), [line["line"] for line in listing["lines"]])
    lines = listing["lines"] + behind["listing"]["lines"] + before["listing"]["lines"]
    for line in lines:
        expect(f"line {line['line']}", TEXT[line["line"] - 1], line["text"])
    expect("lines in all", 30, len(lines))


def check_code(asyncdbg, steps):
    """The code has no breakpoint in it, and is of the line where the thread stands."""
    (stop, code, bare), _ = ask(asyncdbg, steps, ["disassemble /s", "disassemble"])
    rows = code["disassembly"]["instructions"]
    here = [row for row in rows if row["current"]]
    expect("current instructions", [(SECOND, stop["stopped"]["file"])], [(row["line"], row["file"]) for row in here])
    expect("breakpoints in the code", [], [row for row in here if row["bytes"] == "cc"])
    expect("function", True, "steps::walk" in code["disassembly"]["function"])
    ends = [int(row["address"], 16) + len(row["bytes"].split()) for row in rows]
    expect("addresses", [int(row["address"], 16) for row in rows[1:]], ends[:-1])
    expect("lines without /s", {None}, {row["line"] for row in bare["disassembly"]["instructions"]})


def check_named(asyncdbg, steps):
    """Each instance of a generic function by the names that are shown of it."""
    def disassemble(*words):
        return subprocess.run([asyncdbg, steps, "--jsonl", "disassemble", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT)

    several = disassemble("tokio::runtime::task::raw::poll")
    expect("a name of several functions", 64, several.returncode)
    instances = re.findall(r"(0x[0-9a-f]+) (tokio::runtime::task::raw::poll<.*?>)(?=, 0x| and \d+ more|$)",
                           several.stderr)
    expect("instances", True, len(instances) > 1)
    for address, name in instances:
        code = json.loads(disassemble(name).stdout.splitlines()[-1])["disassembly"]
        expect(f"where {name} begins", address, code["low"])
        again = json.loads(disassemble(code["function"]).stdout.splitlines()[-1])["disassembly"]
        expect(f"where {code['function']} begins", address, again["low"])
    address = instances[0][0]
    cut = disassemble(f"{address},+9000000")
    problem = json.loads(cut.stdout.splitlines()[-1])["disassembly"]["problem"]
    expect("a range that is too long", (1, True), (cut.returncode, "too large to show" in problem))
    expect("a function", 0, disassemble(address).returncode)


def check_memory(asyncdbg, steps):
    """The same bytes as instruction, as units of two sizes, and behind the register."""
    commands = ["disassemble", "info registers rip rsp", "x/8xb $pc", "x/1xg $pc", "x/2i $rip", "x/2xg $sp", "x"]
    (stop, code, registers, *memory), _ = ask(asyncdbg, steps, commands)
    octets, word, instructions, stack, behind = (answer["memory"] for answer in memory)
    here = [n for n, row in enumerate(code["disassembly"]["instructions"]) if row["current"]][0]
    rows = code["disassembly"]["instructions"][here:here + 2]
    expect("pc", rows[0]["address"], registers["registers"]["rip"])
    expect("instructions", [row["text"] for row in rows], [unit["value"] for unit in instructions["units"]])
    got = [int(unit["value"], 16) for unit in octets["units"]]
    expect("bytes", rows[0]["bytes"].split()[:8], [f"{byte:02x}" for byte in got][:len(rows[0]["bytes"].split())])
    expect("a word", int.from_bytes(bytes(got), "little"), int(word["units"][0]["value"], 16))
    expect("the stack", registers["registers"]["rsp"], stack["units"][0]["address"])
    expect("what follows", int(stack["units"][1]["address"], 16) + 8, int(behind["units"][0]["address"], 16))


def check_frames(asyncdbg, steps, optimised):
    """`bt` numbers the frames; each variable has a value or a reason."""
    commands = ["bt", "frame", "locals", "up", "locals", "down", "frame 2", "down 2", "task"]
    # In optimised code it may be nowhere, which is an error.
    if not optimised:
        commands[-1:] = ["print message", "task", "print message"]
    answers, _ = ask(asyncdbg, steps, commands)
    frames = answers[1]["threads"][0]["frames"]
    shown = [answer.get("native_frame") for answer in answers[2:]]
    expect("numbers", [0, 0, 1, 1, 0, 2, 0], [frame["number"] for frame in shown[:7]])
    for frame in shown[:7]:
        same = frames[frame["number"]]
        expect("a frame of bt", same, {key: frame[key] for key in same})
    for frame in (shown[1], shown[3]):
        for variable in frame["locals"]:
            if (variable["value"] is None) == (variable["problem"] is None):
                sys.exit(f"neither a value nor a reason, or both: {variable}")
    printed = [answer["printed"]["value"] for answer in answers if "printed" in answer]
    expect("values of `message` in frame 0 and in the task", printed[:1], printed[1:])
    expect("the task in focus", True, answers[-1]["focus"]["frame"] is not None)


def check_set(asyncdbg, steps):
    """A static and a variable of the frame get new values, of their type alone."""
    commands = ["set steps::STEPS = 77", "print steps::STEPS", "set steps::LINE=0x10", "print steps::LINE"]
    (_, *answers), messages = ask(asyncdbg, steps, commands)
    expect("values", ["77", "77", "16", "16"], [answer["printed"]["value"] for answer in answers])
    expect("one warning", 1, messages.count("writes to the memory"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, steps = sys.argv[1:]
    check_source(asyncdbg, steps)
    check_code(asyncdbg, steps)
    check_named(asyncdbg, steps)
    check_memory(asyncdbg, steps)
    check_set(asyncdbg, steps)
    check_frames(asyncdbg, steps, "release" in steps)
    print("ok")


main()
