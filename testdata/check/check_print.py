#!/usr/bin/python3
"""Asks asyncdbg to print paths from variables and statics of the program `locals`.

usage: check_print.py ASYNCDBG DOCUMENT TARGET_OPTION...

The document is the answer to "async backtrace all" about the same process or core; it says in
which frame each function is. Prints a line for each wrong answer; exit status 1 if there is any.
"""

import json
import subprocess
import sys

# Function, expression, and the value, or a part of what asyncdbg says where there is none.
CASES = [
    ("locals::plain::compounds", "outer.place.x", "3"),
    ("locals::plain::compounds", "outer.inner.name", '"inner"'),
    ("locals::plain::compounds", "outer.inner.Some.0.place", "Point { x: 1, y: 2 }"),
    ("locals::plain::compounds", "outer.inner.inner.name", "! it is None, not Some"),
    ("locals::plain::compounds", "outer.list[1]", "6"),
    ("locals::plain::compounds", "outer.list[2]", "! there are 2 elements"),
    ("locals::plain::compounds", "outer.list[0..2]", "[5, 6]"),
    ("locals::plain::compounds", "outer.list[1..]", "[6]"),
    ("locals::plain::compounds", "outer.list[..1]", "[5]"),
    ("locals::plain::compounds", "outer.list[2..]", "[]"),
    ("locals::plain::compounds", "outer.list[1..9]", "! there are 2 elements"),
    ("locals::plain::compounds", "outer.list[1..0]", "! there are 2 elements"),
    ("locals::plain::compounds", "outer.list[..].len", "! a range must be the end of an expression"),
    ("locals::plain::compounds", "*outer.reference", "7"),
    ("locals::plain::compounds", "nested.1[0].1", "true"),
    ("locals::plain::compounds", "triple.1", '"two"'),
    ("locals::plain::compounds", "missing", "! no variable `missing` here; there are: single, "),
    ("locals::plain::compounds", "outer.missing", "! no member `missing` in "),
    ("locals::plain::compounds", "outer..x", "! expected a name"),
    ("locals::plain::compounds", "outer.list[x]", "! an index must be a number"),
    ("locals::plain::compounds", "point+1", "! cannot parse"),
    ("locals::plain::enums", "rect.width", "3"),
    ("locals::plain::enums", "rect.Circle.0", "! it is Rect, not Circle"),
    ("locals::plain::sequences", "reference[1]", '"two"'),
    ("locals::plain::sequences", "many[99]", "99"),
    ("locals::plain::sequences", "slice[0]", "2"),
    ("locals::owners::owners", "shared[0]", "1"),
    ("locals::owners::owners", "nested.1", "2"),
    ("locals::owners::locks", "shared[0]", "1"),
    ("locals::owners::objects", "object.number", "4"),
    ("locals::owners::objects", "shared.number", "6"),
    ("locals::std_types::deques", "wrapped[5]", "9"),
    ("locals::plain::sequences", "many[97..]", "[97, 98, 99]"),
    ("locals::gone::take", "numbers[0]", "1"),
    ("locals::gone::borrowed::{async_block#0}", "text", '"outer"'),
]

# Statics: whatever is in focus.
STATICS = [
    ("truth::BUSY", "Mutex { data: [], poisoned: false, .. }"),
    ("BUSY", "Mutex { data: [], poisoned: false, .. }"),
    ("truth::PLACES[0].visits", "1"),
    ("PLACES[0].visits", "1"),
    ("PLACES[0].missing", "! no member `missing` in truth::Place"),
    ("truth::MISSING", "! the debug info has no static `truth::MISSING`"),
    ("MISSING", "! no static of that name"),
    ("0x10 as u64", "<unreadable>"),
    ("(0x10 as locals::Missing).x", "! the debug info has no type `locals::Missing`"),
    ("0x10", "! an address needs a type"),
    ("(0x10 as u64", "! missing closing parenthesis"),
    ("CURRENT_PARKER", "! tokio::runtime::park::CURRENT_PARKER is a thread-local"),
]


def walk(future):
    if future:
        yield future
        for child in future["children"]:
            yield from walk(child)


def places(document):
    """Task and frame of each function."""
    return {
        future["function"]: (task["id"], future["number"])
        for task in document["tasks"] if task["root"]
        for future in walk(task["root"])
    }


def ask(asyncdbg, target, focus, expression):
    """The last document's value, or the error."""
    commands = "print {}".format(expression if expression[0] == "'" else f"'{expression}'")
    if focus:
        commands = "task {}; frame {}; {}".format(*focus, commands)
    done = subprocess.run(
        [asyncdbg, *target, "--json", "-e", commands],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )
    if done.returncode:
        return "! " + done.stderr.strip().split("\n")[-1]
    text, answer = done.stdout.strip(), None
    while text:
        answer, end = json.JSONDecoder().raw_decode(text)
        text = text[end:].strip()
    return answer["printed"]["value"]


def check_cast(asyncdbg, target, focus):
    """The same value by its address and type."""
    commands = "task {}; frame {}; print outer.place".format(*focus)
    done = subprocess.run(
        [asyncdbg, *target, "--jsonl", "-e", commands],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True,
    )
    printed = json.loads(done.stdout.strip().split("\n")[-1])["printed"]
    cast = "'({} as {}).y'".format(printed["addr"], printed["type"])
    have = ask(asyncdbg, target, None, cast)
    return [] if have == "4" else ["{} is {}, not 4".format(cast, have)]


def fits(have, want):
    return have == want or (want.startswith("! ") and want[2:] in have and have[0] == "!")


def main():
    asyncdbg, path, *target = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        where = places(json.load(file))
    failures = 0
    cases = [(None, *case) for case in STATICS] + CASES
    cases += [("locals::plain::compounds", *case) for case in STATICS]
    for function, expression, want in cases:
        if function and function not in where:
            print("no frame of {}".format(function))
            failures += 1
            continue
        have = ask(asyncdbg, target, where[function] if function else None, expression)
        if not fits(have, want):
            print("{}: {} is {}, not {}".format(function, expression, have, want))
            failures += 1
    for line in check_cast(asyncdbg, target, where["locals::plain::compounds"]):
        print(line)
        failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
