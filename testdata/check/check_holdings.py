#!/usr/bin/env python3
"""Compares who holds what, as asyncdbg says, with what a program says about itself.

usage: check_holdings.py ASYNCDBG TRUTH -p PID|-c CORE [OPTIONS]
       check_holdings.py --self-test

TRUTH is what the program printed; its last line counts.

Asks for every task that the truth names. What the truth says is held must be found there, and
nobody else may be said to hold any of it; what was moved out of a variable may be reported, but only
as uncertain. So may what a task holds whose type is said to be one of several. Each variable of
which the truth says where it is declared must be reported with that line. Prints what differs.
"""

import json
import os
import re
import subprocess
import sys

import check_truth


def documents(text):
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def ask(asyncdbg, options, ids):
    commands = "; ".join(f"async task {one}" for one in ids)
    command = [asyncdbg, *options, "--json", "--batch", "-e", commands]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    partial = os.environ.get("PARTIAL")  # as in run_live.sh: no answer is complete
    if run.returncode not in ((0, 1) if partial else (0,)):
        sys.exit(f"asyncdbg ends with {run.returncode}: {run.stderr[-2000:]}")
    return list(documents(run.stdout))


def collect(answers):
    """Every holding once, by what it is."""
    seen = {}
    for answer in answers:
        for one in answer.get("holdings", []):
            key = [one[name] for name in ("task", "addr", "type", "role", "object", "path")]
            seen[tuple(key)] = one
    return list(seen.values())


def is_same(hold, one):
    """Is one what the truth calls hold? The truth need not say where it lies, or of what."""
    return (
        one["task"] == hold["task"]
        and one["role"] == hold["role"]
        and one["kind"] == hold["kind"]
        and hold["object"] in (None, one["object"])
        and hold["path"] in (None, one["path"])
    )


def name(one):
    where = f"`{one['path']}`" if one["path"] else "something"
    return f"task {one['task']}: {where}, {one['role']} of {one['kind']} {one['object']}"


def is_sure(one):
    return not one["uncertain"] or one["sole"]


def vague_tasks(answers):
    """Those of which asyncdbg says that their type may be another."""
    tasks = [task for answer in answers for task in answer["tasks"]]
    return {task["id"] for task in tasks if task["root"] and task["root"]["aliases"]}


def compare(truth, seen, vague=frozenset()):
    holds = truth["holds"]
    free = {hold["object"] for hold in holds if hold["kind"] == "free"}
    held = [hold for hold in holds if hold["kind"] != "free"]
    disputed = {hold["object"] for hold in held if hold["stale"]}
    problems = []
    for hold in held:
        found = [one for one in seen if is_same(hold, one)]
        if hold["stale"]:
            problems += [f"{name(one)}: it was moved" for one in found if is_sure(one)]
        elif hold["task"] in vague:
            continue
        elif not found:
            problems.append(f"{name(hold)} is not found")
        elif (
            hold["kind"] not in ("semaphore", "mpsc", "oneshot")  # how many there are is unknown
            and hold["object"]
            and hold["object"] not in disputed
        ):
            problems += [f"{name(one)} is in doubt" for one in found if not is_sure(one)]
    for one in seen:
        if one["role"] == "waker" or (one["task"] in vague and not is_sure(one)):
            continue
        if one["object"] in free or not any(is_same(hold, one) for hold in held):
            problems.append(f"{name(one)}: it has no such thing")
    return problems


def check_waits(truth, answers):
    """Who waits for a lock that is held sees who holds it."""
    vague = vague_tasks(answers)
    held = {hold["object"] for hold in truth["holds"] if hold["task"] not in vague} - {None}
    problems = []
    for task, answer in zip([t for t in truth["tasks"] if t["id"]], answers):
        wanted = (task["leaf"] or {}).get("object")
        if wanted in held and all(one["object"] != wanted for one in answer["holdings"]):
            problems.append(f"task {task['id']} does not see who holds {wanted}")
    return problems


def is_at(place, one):
    return one["line"] == place["line"] and (one["file"] or "").endswith("/" + place["file"])


def compare_declared(truth, seen):
    """Of variables of one name it may be left open where they are declared, but it must be true."""
    places = {place["name"]: place for place in truth.get("declared", [])}
    mades = [hold for hold in truth["holds"] if hold["made"]]
    shown, problems = {hold["made"] for hold in mades}, []
    for one in (one for one in seen if one["path"] and one["role"] != "waker"):
        made = next((hold["made"] for hold in mades if is_same(hold, one)), None)
        variable = made or f"{one['function']} {re.split(r'[.[]', one['path'])[0]}"
        if variable not in places or (made and not one["declared"]):
            continue
        shown.add(variable)
        if not one["declared"]:
            problems.append(f"{name(one)}: not reported where it is declared")
        elif not is_at(places[variable], one):
            problems.append(f"{name(one)} is declared at {one['file']}:{one['line']}")
    return problems + [f"{name} is not reported" for name in places if name not in shown]


def check(asyncdbg, truth_file, options):
    truth = check_truth.read_truth(truth_file)
    answers = ask(asyncdbg, options, [task["id"] for task in truth["tasks"] if task["id"]])
    seen = collect(answers)
    differences = compare(truth, seen, vague_tasks(answers))
    return differences + compare_declared(truth, seen) + check_waits(truth, answers)


def self_test():
    lock = {"role": "lock", "kind": "mutex", "object": "0x10", "path": "guard", "stale": False}
    truth = {"holds": [{**lock, "task": "1"}], "tasks": []}
    one = {**lock, "task": "1", "uncertain": True, "sole": True}
    assert not compare(truth, [one])
    assert compare(truth, [])
    assert compare(truth, [{**one, "sole": False}])
    assert compare(truth, [one, {**one, "task": "2"}])
    assert compare(truth, [{**one, "path": "other"}])
    assert compare(truth, [{**one, "object": "0x20"}])
    stale = {"holds": truth["holds"] + [{**lock, "task": "2", "stale": True}], "tasks": []}
    doubt = {**one, "sole": False}
    assert not compare(stale, [doubt, {**doubt, "task": "2"}])
    assert compare(stale, [doubt, {**one, "task": "2"}])
    free = {"holds": [{**lock, "task": None, "kind": "free"}], "tasks": []}
    assert not compare(free, [])
    assert compare(free, [one])
    place = {"name": "app::run guard", "file": "app/src/main.rs", "line": 7}
    hold = {**truth["holds"][0], "made": None}
    declares = {"holds": [hold], "declared": [place]}
    shown = {**one, "function": "app::run", "file": "/src/app/src/main.rs", "line": 7}
    shown["declared"] = True
    assert not compare_declared(declares, [shown])
    assert compare_declared(declares, [])
    assert compare_declared(declares, [{**shown, "declared": False}])
    assert compare_declared(declares, [{**shown, "line": 8}])
    assert compare_declared(declares, [{**shown, "file": "/src/other.rs"}])
    declares["holds"][0]["made"] = "app::run guard"
    assert not compare_declared(declares, [{**shown, "declared": False}])
    assert compare_declared(declares, [{**shown, "line": 8}])
    waits = {**truth, "tasks": [{"id": "3", "leaf": {"kind": "mutex", "object": "0x10"}}]}
    plain = {"id": "1", "root": {"aliases": None}}
    assert not check_waits(waits, [{"holdings": [one], "tasks": [plain]}])
    assert check_waits(waits, [{"holdings": [], "tasks": [plain]}])
    either = {"id": "1", "root": {"aliases": "app::other"}}
    assert vague_tasks([{"tasks": [plain, either, {"id": "3", "root": None}]}]) == {"1"}
    assert not check_waits(waits, [{"holdings": [], "tasks": [either]}])
    assert not compare(truth, [], {"1"})
    assert not compare(truth, [{**doubt, "object": "0x20"}], {"1"})
    assert compare(truth, [{**one, "object": "0x20"}], {"1"})
    assert compare(truth, [{**doubt, "object": "0x20", "task": "2"}], {"1"})


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
