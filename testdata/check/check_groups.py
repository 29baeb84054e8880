#!/usr/bin/python3
"""Compares groups of tasks with what the program says about itself.

usage: check_groups.py JSON TEXT TALLY TRUTH
       check_groups.py --self-test

JSON and TEXT are of "async backtrace all --group", TALLY is the JSON of "tasks --group
waiting_on", TRUTH has the line that a test program prints after "ready". Each entry of the
truth's tasks is a kind: there must be one group of as many tasks, with that oldest and newest id,
those frames and that leaf, and no other group. TEXT must fit a screen.
Exit status: 0 and one line when they agree, 1 and a line for each difference when not.
"""

import collections
import copy
import json
import sys

SCREEN = 40


def of_truth(truth):
    """{(frames, leaf): (tasks, oldest, newest)}; frames are (function, line)."""
    kinds = {}
    for task in truth["tasks"]:
        ids = [int(number) for number in task.get("ids") or [task["id"]]]
        frames = tuple(zip(task["chain"], task["lines"]))
        kinds[frames, task["leaf"]["kind"]] = (len(ids), min(ids), max(ids))
    return kinds


def of_groups(document, crate):
    """The same, of the answer; groups that look the same are distinguished."""
    kinds = {}
    for group in document["groups"]:
        own = [frame for frame in group["frames"]
               if (frame["function"] or "").split("::")[0] == crate]
        frames = tuple((frame["function"], frame["line"]) for frame in own)
        waits = [frame["wait"]["kind"] for frame in group["frames"] if frame["wait"]]
        key = frames, waits[-1] if waits else None
        while key in kinds:
            key += ("again",)
        kinds[key] = (group["tasks"], int(group["oldest"]), int(group["newest"]))
    return kinds


def compare(document, text, tally, truth):
    wanted = of_truth(truth)
    found = of_groups(document, truth["program"])
    for key in sorted(wanted.keys() | found.keys(), key=str):
        if wanted.get(key) != found.get(key):
            yield "{}: {} instead of {}".format(key, found.get(key), wanted.get(key))
    for group in document["groups"]:
        if sum(group["states"].values()) != group["tasks"]:
            yield "the states of a group are not those of its tasks: {}".format(group["states"])
    total = sum(count for count, _, _ in wanted.values())
    shown = document["shown"]
    if (shown["total"], shown["tasks"], shown["groups"]) != (total, total, len(wanted)):
        yield "it says to show {}".format(shown)
    leaves = collections.Counter()
    for (_, leaf), (count, _, _) in wanted.items():
        leaves[leaf] += count
    said = {row["value"]: row["tasks"] for row in tally["tally"]["rows"]}
    if said != leaves:
        yield "tasks wait for {} instead of {}".format(said, dict(leaves))
    lines = text.splitlines()
    if len(lines) > SCREEN:
        yield "{} lines do not fit a screen".format(len(lines))
    heading = "{:,} tasks in {} groups".format(total, len(wanted))
    if not any(line.startswith(heading) for line in lines):
        yield "no line begins with {!r}".format(heading)


def self_test():
    def frame(function, line, wait=None):
        return {"function": function, "line": line, "wait": wait and {"kind": wait}}

    def group(count, oldest, newest, line):
        return {"tasks": count, "oldest": oldest, "newest": newest, "states": {"idle": count},
                "frames": [frame("app::a", line), frame("tokio::b", 1), frame("Sleep", None,
                                                                              "sleep")]}

    truth = {"program": "app", "tasks": [
        {"id": "9", "chain": ["app::a"], "lines": [7], "leaf": {"kind": "sleep"}},
        {"ids": ["3", "20", "5"], "chain": ["app::a"], "lines": [8], "leaf": {"kind": "sleep"}},
    ]}
    document = {"groups": [group(3, "3", "20", 8), group(1, "9", "9", 7)],
                "shown": {"total": 4, "tasks": 4, "groups": 2}}
    tally = {"tally": {"rows": [{"value": "sleep", "tasks": 4}]}}
    text = "4 tasks in 2 groups: idle\n"
    assert not list(compare(document, text, tally, truth))
    changes = [
        lambda d, t: d["groups"].pop(),
        lambda d, t: d["groups"].append(group(1, "9", "9", 7)),
        lambda d, t: d["groups"][0].update(tasks=4),
        lambda d, t: d["groups"][0].update(oldest="4"),
        lambda d, t: d["groups"][0].update(newest="21"),
        lambda d, t: d["groups"][0]["frames"][0].update(line=9),
        lambda d, t: d["groups"][0]["frames"][2].update(wait=None),
        lambda d, t: d["groups"][0].update(states={"idle": 2}),
        lambda d, t: d["shown"].update(tasks=3),
        lambda d, t: t["tally"]["rows"][0].update(tasks=3),
    ]
    for change in changes:
        changed, counts = copy.deepcopy(document), copy.deepcopy(tally)
        change(changed, counts)
        assert list(compare(changed, text, counts, truth)), "a change is not seen"
    assert list(compare(document, text + "\n" * SCREEN, tally, truth))
    assert list(compare(document, "", tally, truth))
    print("ok")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    with open(sys.argv[1]) as answer, open(sys.argv[2]) as text, open(sys.argv[3]) as tally:
        found = json.load(answer), text.read(), json.load(tally)
    with open(sys.argv[4]) as file:
        truth = json.loads([line for line in file if line.startswith("{")][-1])
    differences = list(compare(*found, truth))
    for difference in differences:
        print(difference)
    if differences:
        sys.exit(1)
    print("{} groups as the program says".format(len(truth["tasks"])))
    return None


if __name__ == "__main__":
    main()
