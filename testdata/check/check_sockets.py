#!/usr/bin/env python3
"""Compares who owns descriptors, as asyncdbg says, with what a program says about itself.

usage: check_sockets.py ASYNCDBG TRUTH -p PID|-c CORE [OPTIONS]
       check_sockets.py --self-test

TRUTH is what the program printed; its last line counts.

Of each descriptor that the truth names, "async task" must report exactly the owners that the truth
has, with their paths, and no doubt where it has none; of a live process, so must "info sockets".
Prints what differs.
"""

import json
import subprocess
import sys

import check_truth
from check_holdings import ask, collect


def owner(one):
    return f"fd {one['fd']}: task {one['task']} (`{one['path']}`)"


def compare(owns, said, where):
    """Both are lists of owners."""
    sure = {owner(one) for one in owns if one["sure"]}
    wanted = {owner(one) for one in owns}
    said = [one for one in said if one["fd"] in {own["fd"] for own in owns}]
    found = {owner(one) for one in said}
    problems = [f"{where}: lacks {one}" for one in sorted(wanted - found)]
    problems += [f"{where}: has {one}" for one in sorted(found - wanted)]
    doubted = {owner(one) for one in said if one["uncertain"]}
    return problems + [f"{where}: doubts {one}" for one in sorted(doubted & sure)]


def of_tasks(asyncdbg, options, owns):
    ids = sorted({one["task"] for one in owns}, key=int)
    seen = collect(ask(asyncdbg, options, ids))
    return [one for one in seen if one["role"] == "descriptor"]


def of_sockets(asyncdbg, options):
    command = [asyncdbg, *options, "--json", "info", "sockets"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return [one for row in json.loads(run.stdout)["sockets"] for one in row["owners"]]


def check(asyncdbg, truth_file, options):
    owns = check_truth.read_truth(truth_file)["owns"]
    problems = compare(owns, of_tasks(asyncdbg, options, owns), "async task")
    if "-p" in options:
        problems += compare(owns, of_sockets(asyncdbg, options), "info sockets")
    return problems


def self_test():
    own = {"task": "1", "fd": 9, "path": "stream", "sure": True}
    one = {"task": "1", "fd": 9, "path": "stream", "uncertain": False}
    assert not compare([own], [one], "")
    assert not compare([own], [one, {**one, "fd": 10}], "")
    assert compare([own], [], "")
    assert compare([own], [{**one, "uncertain": True}], "")
    assert not compare([{**own, "sure": False}], [{**one, "uncertain": True}], "")
    assert compare([own], [{**one, "path": "other"}], "")
    assert compare([own], [one, {**one, "task": "2"}], "")


def main(args):
    if args == ["--self-test"]:
        self_test()
        return 0
    if len(args) < 4:
        print(__doc__, file=sys.stderr)
        return 64
    problems = check(args[0], args[1], args[2:])
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
