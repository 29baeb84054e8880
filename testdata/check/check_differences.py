#!/usr/bin/env python3
"""
Checks that nobody subtracts times: events are read later than they happen, in an order that is not quite
theirs, and an unsigned difference that wraps is 18446744073.7 s. What takes times apart is
debugger/base/clock.h alone, whose functions give 0 instead.

usage: check_differences.py [--self-test]

Looks at every source of the folders below but tests, fuzzers and what the kernel runs. A time or a length of time
is what has the name of one: now, time, ..._ns and the like. Differences of floating-point numbers, and signed ones,
are allowed. Exit status 1 where one is left.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("debugger", "dwarf", "runtimes", "commands")

NAME = r"(?:\w+_ns|now|time|since|until|began|ended|parked_at|stopped_at|known_at|read_at|looked|first_look|last_look)"
# The last name of a path such as "r->sink->start[i].since", or a call such as "clock_now_ns()".
TIME = rf"(?:(?:\b|->|\.){NAME}\b(?:\[[^][]*\])?(?:\(\))?)"
PATH = r"(?:\b\w+(?:\[[^][]*\])?(?:->|\.))*"
DIFFERENCE = re.compile(rf"{TIME} -=? (?!=)|[\w)\]] -=? {PATH}(?:(?<=[ .>]){NAME}\b)(?!\()(?!->|\.|\[)")
SIGNED = re.compile(r"\((?:int64_t|double)\)\(?[^()]*$|\bdouble\b[^;]*$")

SAMPLES = [
    ("x = now - r->start;", True),
    ("x = item->time - r->last;", True),
    ("x = r->head - item->time;", True),
    ("t->ns -= span.off_ns;", True),
    ("x = clock_now_ns() - begin;", True),
    ("x = a > b->since ? a - b->since : 0;", True),
    ("x = rows[i].since - 1;", True),
    ("put((int64_t)(item->time - r->last));", False),
    ("x = (double)a_ns - b;", False),
    ("x = (uint64_t)((int64_t)clock_now_ns() - offset);", False),
    ("x = clock_between(r->start, now);", False),
    ("x = r->time_of - first;", False),
    ("x = n - now->n;", False),
    ("x = -now;", False),
    ("/* now - then */", False),
]


def without_comments(text):
    """The same lines without comments and texts, so that numbers of lines stay."""
    return re.sub(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", lambda found: re.sub(r"[^\n]", " ", found.group()), text,
                  flags=re.S)


def problems_of(text):
    text = without_comments(text)
    for found in DIFFERENCE.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if not SIGNED.search((before + found.group().split(" -")[0]).replace("()", "")):
            yield text.count("\n", 0, found.start()) + 1, found.group().strip()


def self_test():
    wrong = [sample for sample, is_bad in SAMPLES if bool(list(problems_of(sample))) != is_bad]
    for sample in wrong:
        print(f"taken for the opposite: {sample}")
    return wrong


def check_sources():
    found = []
    for folder in FOLDERS:
        for path in sorted((TOP / folder).rglob("*.[ch]")):
            name = str(path.relative_to(TOP))
            if re.search(r"(_test|_fuzz)\.c$|\.bpf\.[ch]$|/test/", name):
                continue
            for line, what in problems_of(path.read_text(encoding="utf-8")):
                found.append(f"{name}:{line}: {what}: differences of times are those of debugger/base/clock.h")
    print("\n".join(found) or "nobody subtracts times")
    return found


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--self-test"]):
        sys.exit(__doc__)
    sys.exit(1 if (self_test() if sys.argv[1:] else check_sources()) else 0)
