#!/usr/bin/env python3
"""Stops at each mark of programs that are made by chance, and compares `locals` with what the variables have.

usage: run_generated_values.py ASYNCDBG PROFILE [--seeds FIRST LAST]

PROFILE  debug: what optimised code does to variables that were moved out is not known yet
--seeds  the numbers of the programs, default 1 to 2

A value without a mark has to be that of a variable that is visible there and has it. In the debug build
at most one right value has a mark where SURE have none. What no await keeps has no value, rightly.
The programs are built under CARGO_TARGET_DIR; skipped without cargo.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

TESTDATA = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTDATA / "make"))
from generate_values import Program
from stepping_session import Session

SURE = 4
MANIFEST = """\
[package]
name = "generated"
version = "0.1.0"
edition = "2024"

[dependencies]
tokio = { version = "1.24", features = ["macros", "rt-multi-thread", "time"] }

[workspace]
"""


def build(program, profile, folder):
    """The path of the program."""
    source = folder / "src"
    source.mkdir(parents=True, exist_ok=True)
    (folder / "Cargo.toml").write_text(MANIFEST)
    shutil.copy(TESTDATA / "locks/tokio-1.54.1.lock", folder / "Cargo.lock")
    (source / "main.rs").write_text(program.text)
    subprocess.run(["cargo", "build", "--quiet", "--target-dir", folder / "target"], cwd=folder, check=True)
    return folder / "target" / profile / "generated"


def locals_of(answer):
    """The variables in an answer of `locals`, wherever they are in it."""
    if isinstance(answer, list):
        return [each for part in answer for each in locals_of(part)]
    if not isinstance(answer, dict):
        return []
    if "uncertain" in answer and "passed_in" in answer:
        return [answer]
    return [each for part in answer.values() for each in locals_of(part)]


class Count:
    def __init__(self):
        self.stops = self.wrong = self.sure = self.marked = self.none = 0


def compare(line, truth, shown, count):
    names = set()
    for each in shown:
        name, value = each["name"], each["value"]
        names.add(name)
        if value is None:
            count.none += name in truth and truth[name] is not None
        elif each["uncertain"]:
            count.marked += name in truth and truth[name] == value
        elif name.startswith("v") or name == "n":
            count.sure += 1
            if truth.get(name) != value:
                count.wrong += 1
                print(f"line {line}: {name} = {value} instead of {truth.get(name, 'no variable')}")
    count.none += sum(name not in names for name, value in truth.items() if value is not None)


def walk(asyncdbg, program, path, count):
    session = Session(asyncdbg, "--no-cache")
    try:
        for line in sorted({line for line, _ in program.marks}):
            session.ask(f"break main.rs:{line}")
        stop = session.ask(f"run -- {path}")["stopped"]
        marks = iter(program.marks)
        while stop["reason"] == "breakpoint":
            truth = next((truth for line, truth in marks if line == stop["line"]), None)
            if truth is None:
                print(f"line {stop['line']} is not expected")
                count.wrong += 1
                break
            count.stops += 1
            compare(stop["line"], truth, locals_of(session.ask("locals")), count)
            stop = session.ask("continue")["stopped"]
        session.end()
    finally:
        session.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("asyncdbg")
    parser.add_argument("profile", choices=["debug"])
    parser.add_argument("--seeds", nargs=2, type=int, default=[1, 2])
    options = parser.parse_args()
    if not shutil.which("cargo"):
        print("skipped: no cargo in PATH")
        sys.exit(77)
    folder = pathlib.Path(os.environ["CARGO_TARGET_DIR"]).resolve() / "generated_values"
    count = Count()
    for seed in range(options.seeds[0], options.seeds[1] + 1):
        program = Program(seed)
        print(f"program {seed}", flush=True)
        walk(options.asyncdbg, program, build(program, options.profile, folder), count)
    print(f"{count.stops} stops, {count.wrong} wrong values, {count.sure} sure ones, {count.marked} right ones "
          f"with a mark, {count.none} not shown")
    too_many = count.marked * SURE > count.sure
    sys.exit(1 if count.wrong or not count.stops or too_many else 0)


if __name__ == "__main__":
    main()
