#!/usr/bin/python3
"""Compares what asyncdbg says of who waits for whom with what a program says about itself.

usage: check_graph.py ASYNCDBG TRUTH TARGET_OPTION...
       check_graph.py --self-test

TRUTH is the output of the program; its "graph" is described in README.md. Asks "async graph",
"async deadlocks" and "check" of the process or core. Every deadlock and futurelock of the truth
must be reported, and no other; all documents must fit the schema; "check --fail-on NAME" must end with 3
where there is something that is not only possible, NAME:possible where there is anything, and both
with 0 where not. Each variable that the truth declares must be reported
with its line.

SCHEMA in the environment is another schema. Prints a line for each difference. Exit status: 0 if there is none, 1 if there is any, 2 when there
is nothing to compare.
"""

import json
import os
import os
import re
import subprocess
import sys
from pathlib import Path

import check_truth

DOCS = Path(__file__).resolve().parents[2] / "docs"
SCHEMA = Path(os.environ.get("SCHEMA", DOCS / "asyncdbg.schema.json"))
# Verdicts, and the checks that find them.
CHECKS = {"deadlock": "deadlock", "futurelock": "futurelock", "lost": "no-waker"}
SILENT = CHECKS["lost"]
# What no program of ours has.
NEVER = "closed-channel-wait"
PARTIES = ("task", "block_on", "thread", "job")
# Edges from what lies between two parties to those who have it.
HAS = ("holds", "sends", "receives", "member", "refers", "busy")


class Failure(Exception):
    pass


def show(nodes):
    return ", ".join(sorted(nodes)) or "nobody"


def same_address(one, other):
    return one is None or other is None or int(one, 16) == int(other, 16)


def name_of(node):
    """Who waits or holds, the same in truth and answer."""
    if node["task"] is not None:
        return f"task {node['task']}"
    return f"tid {node['tid']}"


class Graph:
    """The answer to "async graph". A thread that runs a task is that task."""

    def __init__(self, graph):
        self.nodes = {node["id"]: node for node in graph["nodes"]}
        self.edges = {node: [] for node in self.nodes}
        self.runs = {}
        for edge in graph["edges"]:
            self.edges[edge["from"]].append(edge)
            source, target = self.nodes[edge["from"]], self.nodes[edge["to"]]
            if source["kind"] == "task" and target["kind"] == "thread" and edge["kind"] == "runs":
                self.runs[target["thread"]] = name_of(source)

    def party(self, node):
        if node["task"] is None and node.get("kind", "thread") == "thread":
            return self.runs.get(node["thread"], name_of(node))
        return name_of(node)

    def waits(self):
        """Who, the kind of its wait, the address of the lock, all who have that."""
        found = []
        for number, node in self.nodes.items():
            if node["kind"] in PARTIES:
                self.find_waits(self.party(node), number, found)
        return found

    def find_waits(self, who, number, found):
        for edge in self.edges[number]:
            if edge["kind"] == "poll":
                self.find_waits(who, edge["to"], found)
            elif edge["strength"] == "strong":
                target = self.nodes[edge["to"]]
                holders = self.holders(edge["to"], set())
                found.append((who, edge["kind"], target["object"], holders))

    def holders(self, number, seen):
        node = self.nodes[number]
        if node["kind"] in PARTIES:
            return {self.party(node)}
        found = set()
        if number in seen:
            return found
        seen.add(number)
        for edge in self.edges[number]:
            target = self.nodes[edge["to"]]
            if node["kind"] == "queue" and target["kind"] not in ("queue", "lock"):
                continue
            if edge["kind"] in HAS or target["kind"] in ("queue", "lock"):
                found |= self.holders(edge["to"], seen)
        return found


class Comparison:
    """verdicts: the kind, a set of members, the addresses of what is waited for, whether it was
    granted, whether the verdict is certain, whether it is only possible."""

    def __init__(self, truth):
        self.truth = truth
        self.differences = []
        self.behind = {name_of(node) for node in truth["behind"]}
        self.lost = {name_of(lost["who"]): lost["proven"] for lost in truth["lost"]}

    def differ(self, text, *args):
        self.differences.append(text.format(*args))

    def compare(self, verdicts, waits):
        rest = list(verdicts)
        self.compare_futurelocks(rest)
        self.compare_lost(rest)
        self.compare_deadlocks(rest)
        for kind, members, *_ in rest:
            self.differ("there is no {} of {}", kind, show(members))
        self.compare_waits(waits)

    def compare_futurelocks(self, rest):
        """Who waits because of one may be reported with it."""
        for want in self.truth["futurelocks"]:
            who = name_of(want["who"])
            for verdict in rest:
                kind, members, objects, granted, *_ = verdict
                if (
                    kind == "futurelock" and who in members and members <= self.behind | {who}
                    and any(same_address(address, want["object"]) for address in objects)
                ):
                    rest.remove(verdict)
                    if granted != want["granted"]:
                        self.differ("futurelock of {}: granted is {}", who, granted)
                    break
            else:
                if not want["temporary"]:
                    self.differ("no futurelock of {}", who)

    def compare_lost(self, rest):
        """That it waits for itself, or for a future of its own, is true of it too."""
        for who, proven in self.lost.items():
            shown = [verdict for verdict in rest if verdict[1] == {who}]
            for verdict in shown:
                rest.remove(verdict)
            if proven and not shown:
                self.differ("{} is not reported to be lost", who)

    def compare_deadlocks(self, rest):
        for want in self.truth["deadlocks"]:
            members = {name_of(node) for node in want["members"]}
            kinds = ("deadlock", "lost") if want["perhaps"] else ("deadlock",)
            shown = [
                verdict for verdict in rest if verdict[0] in kinds and verdict[1] == members
            ]
            if len(shown) > 1:
                self.differ("the deadlock of {} is reported {} times", show(members), len(shown))
            for verdict in shown:
                rest.remove(verdict)
                if want.get("possible") not in (None, *verdict[5:]):
                    self.differ("the deadlock of {} is {}possible", show(members),
                                "not " if want["possible"] else "only ")
                if want["perhaps"] and verdict[4]:
                    self.differ("the deadlock of {} is not certain", show(members))
            if not shown and not want["hard"] and not want["perhaps"]:
                self.differ("no deadlock of {}", show(members))

    def compare_waits(self, found):
        for want in self.truth["waits"]:
            who = name_of(want["who"])
            holders = {name_of(node) for node in want["holders"]}
            said = f"{who} waits for {want['kind']} {want['object'] or ''}".rstrip()
            fits = [
                wait[3] for wait in found
                if wait[0] == who and wait[1] == want["kind"]
                and same_address(wait[2], want["object"])
            ]
            if not fits:
                self.differ("{}: not reported", said)
            elif not any(self.agrees(want, holders, shown) for shown in fits):
                self.differ("{} of {}, not {}", said, show(holders), show(fits[0]))

    @staticmethod
    def agrees(want, holders, shown):
        if want["native"]:
            return shown <= holders
        if want["stale"]:
            return holders <= shown
        return shown == holders


class Asyncdbg:
    def __init__(self, path, options):
        self.command = [path, *options, "--json"]
        with open(SCHEMA, encoding="utf-8") as file:
            self.schema = json.load(file)

    def ask(self, *words, status=(0,)):
        run = subprocess.run(
            [*self.command, *words],
            capture_output=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        said = " ".join(words)
        if os.environ.get("PARTIAL"):  # as in run_live.sh: no answer is complete
            status = (*status, 1)
        if run.returncode not in status:
            error = run.stderr.decode()
            raise Failure(f"{said} ends with {run.returncode}, not {status[0]}: {error}")
        document = json.loads(run.stdout)
        for difference in check_truth.validate(document, self.schema):
            raise Failure(f"{said}: {difference}")
        return document


def verdicts_of(document, graph):
    found = []
    for verdict in document["verdicts"]:
        members = {graph.party(node) for node in verdict["members"]}
        objects = [link["object"] for link in verdict["cycle"]]
        granted = any(link["unpolled"] and link["granted"] for link in verdict["cycle"])
        how = (verdict["certain"], verdict["possible"])
        found.append((verdict["kind"], members, objects, granted, *how))
    return found


def compare_declared(declared, edges):
    """Each variable that the truth declares must be reported as one that holds something, there."""
    shown = {
        (re.split(r"[.[]", edge["path"])[0], edge["file"], edge["line"])
        for edge in edges if edge["path"] and edge["file"]
    }
    for place in declared:
        name, file, line = place["name"].split()[-1], "/" + place["file"], place["line"]
        if not any(one[0] == name and one[1].endswith(file) and one[2] == line for one in shown):
            lines = sorted(f"{one[1]}:{one[2]}" for one in shown if one[0] == name)
            yield f"{place['name']}: not reported to be declared at line {line} ({', '.join(lines)})"


def check_checks(asyncdbg, verdicts, silent):
    """"check" must find what "async deadlocks" tells, and fail on no more than it is to.

    silent: ids of tasks of which no waker exists; "check" alone tells them.
    """
    shown = {CHECKS[verdict[0]] for verdict in verdicts} | {SILENT for _ in silent}
    counted = {CHECKS[verdict[0]] for verdict in verdicts if not verdict[5]}
    counted |= {SILENT for _ in silent}
    certain = {CHECKS[verdict[0]] for verdict in verdicts if verdict[4]}
    document = asyncdbg.ask("check", "--interval", "0", status=(0, 3))
    found = {(finding["check"], finding["severity"]) for finding in document["findings"]}
    names = {name for name, _ in found}
    lost = {finding["check"]: set() for finding in document["findings"]}
    for finding in document["findings"]:
        lost[finding["check"]].update(finding["tasks"])
    if silent - lost.get(SILENT, set()) or (silent and lost[SILENT] - silent):
        yield f"check: {SILENT}: {lost.get(SILENT)}, not {silent}"
    for name in [*CHECKS.values(), NEVER]:
        if (name in shown) != (name in names):
            yield f"check: {name} is {'' if name in names else 'not '}found"
        if name in certain and name != "no-waker" and (name, "error") not in found:
            yield f"check: {name} is no error"
        for listed, fails in ((name, name in counted), (f"{name}:possible", name in shown)):
            words = ("check", "--interval", "0", "--fail-on", listed)
            try:
                asyncdbg.ask(*words, status=(3 if fails else 0,))
            except Failure as failure:
                yield str(failure)


def check(path, truth, declared, options):
    asyncdbg = Asyncdbg(path, options)
    answer = asyncdbg.ask("async", "graph")["graph"]
    graph = Graph(answer)
    verdicts = verdicts_of(asyncdbg.ask("async", "deadlocks"), graph)
    comparison = Comparison(truth)
    comparison.compare(verdicts, graph.waits())
    silent = {node["task"] for node in truth.get("silent", [])}
    differences = comparison.differences + list(check_checks(asyncdbg, verdicts, silent))
    differences += compare_declared(declared, answer["edges"])
    kinds = [verdict[0] for verdict in verdicts]
    said = ", ".join(f"{kinds.count(kind)} {kind}" for kind in CHECKS)
    return differences, f"ok: {len(truth['waits'])} waits, {said}"


def self_test():
    def task(number):
        return {"task": str(number), "tid": None}

    def wait(who, kind, address, *holders, **how):
        row = {"who": who, "kind": kind, "object": address, "holders": list(holders)}
        return {**row, "native": False, "stale": False, **how}

    truth = {
        "waits": [
            wait(task(1), "mutex", "0xA0", task(2)),
            wait(task(2), "join", None, task(1)),
            wait(task(5), "std_mutex", "0xb0", task(6), native=True),
            wait(task(7), "mutex", "0xc0", task(8), stale=True),
        ],
        "deadlocks": [
            {"members": [task(1), task(2)], "hard": False, "perhaps": False, "possible": False},
            {"members": [task(5), task(6)], "hard": True, "perhaps": False},
            {"members": [task(9)], "hard": False, "perhaps": True},
        ],
        "futurelocks": [
            {"who": {"task": None, "tid": 70}, "object": "0xd0", "granted": True,
             "temporary": False},
            {"who": task(11), "object": "0xe0", "granted": True, "temporary": True},
        ],
        "behind": [task(12)],
        "lost": [{"who": task(13), "proven": True}, {"who": task(14), "proven": False}],
    }
    shown = [
        ("deadlock", {"task 1", "task 2"}, ["0xa0", None], False, True, False),
        ("futurelock", {"tid 70"}, ["0xd0"], True, True),
        ("lost", {"task 13"}, ["0xf0"], False, True),
    ]
    found = [
        ("task 1", "mutex", "0xa0", {"task 2"}),
        ("task 2", "join", None, {"task 1"}),
        ("task 5", "std_mutex", "0xb0", set()),
        ("task 7", "mutex", "0xc0", {"task 8", "task 3"}),
    ]

    def differences(verdicts, waits):
        comparison = Comparison(truth)
        comparison.compare(verdicts, waits)
        return comparison.differences

    def but(rows, number, place, value):
        row = list(rows[number])
        row[place] = value
        return rows[:number] + [tuple(row)] + rows[number + 1 :]

    agree = [
        (shown, found),
        (shown + [("deadlock", {"task 5", "task 6"}, ["0xb0"], False, True)], found),
        (shown + [("deadlock", {"task 9"}, [None], False, False)], found),
        (shown + [("futurelock", {"task 11"}, ["0xe0"], True, True)], found),
        (but(shown, 1, 1, {"tid 70", "task 12"}), found),
        (shown + [("lost", {"task 14"}, [None], False, False)], found),
        (but(shown, 2, 0, "deadlock"), found),
    ]
    cases = [
        ("no deadlock of task 1", shown[1:], found),
        ("no deadlock of task 1", but(shown, 0, 1, {"task 1", "task 2", "task 3"}), found),
        ("there is no deadlock of task 1, task 2, task 3",
         but(shown, 0, 1, {"task 1", "task 2", "task 3"}), found),
        ("there is no deadlock", shown + [("deadlock", {"task 3"}, [None], False, False)], found),
        ("there is no deadlock", shown + shown[:1] + [("deadlock", {"task 12"}, [], 0, 0)], found),
        ("is reported 2 times", shown + shown[:1], found),
        ("is only possible", but(shown, 0, 5, True), found),
        ("is not certain", shown + [("deadlock", {"task 9"}, [None], False, True)], found),
        ("no futurelock of tid 70", shown[:1] + shown[2:], found),
        ("no futurelock of tid 70", but(shown, 1, 2, ["0xd8"]), found),
        ("no futurelock of tid 70", but(shown, 1, 1, {"tid 70", "task 3"}), found),
        ("granted is False", but(shown, 1, 3, False), found),
        ("there is no futurelock of task 1", shown + [("futurelock", {"task 1"}, ["0xa0"], 1, 1)],
         found),
        ("task 13 is not reported to be lost", shown[:2], found),
        ("there is no lost of task 1", shown + [("lost", {"task 1"}, [None], False, True)], found),
        ("task 1 waits for mutex 0xA0: not reported", shown, found[1:]),
        ("0xA0: not reported", shown, but(found, 0, 2, "0xa8")),
        ("of task 2, not nobody", shown, but(found, 0, 3, set())),
        ("of task 2, not task 2, task 3", shown, but(found, 0, 3, {"task 2", "task 3"})),
        ("of task 6, not task 5", shown, but(found, 2, 3, {"task 5"})),
        ("of task 8, not task 3", shown, but(found, 3, 3, {"task 3"})),
    ]
    failures = 0
    for verdicts, waits in agree:
        if differences(verdicts, waits):
            failures += 1
            print(f"self-test: should agree: {differences(verdicts, waits)}")
    for wanted, verdicts, waits in cases:
        if not any(wanted in difference for difference in differences(verdicts, waits)):
            failures += 1
            print(f"self-test: wanted {wanted!r}, got {differences(verdicts, waits)}")
    place = {"name": "app::run guard", "file": "app/src/main.rs", "line": 7}
    edge = {"path": "guard.0", "file": "/src/app/src/main.rs", "line": 7}
    if list(compare_declared([place], [edge])):
        failures += 1
        print("self-test: it is declared there")
    for other in ({"line": 8}, {"path": "other"}, {"file": "/src/lib.rs"}):
        if not list(compare_declared([place], [{**edge, **other}])):
            failures += 1
            print(f"self-test: not declared there: {other}")
    print(f"self-test: {'failed' if failures else f'{len(agree) + len(cases)} cases ok'}")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    truth = check_truth.read_truth(sys.argv[2])
    if "graph" not in truth:
        print("the truth has no graph")
        return 2
    try:
        differences, summary = check(
            sys.argv[1], truth["graph"], truth.get("declared", []), sys.argv[3:]
        )
    except (Failure, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as err:
        differences = [f"{type(err).__name__}: {err}"]
    for difference in differences:
        print(difference)
    if not differences:
        print(summary)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
