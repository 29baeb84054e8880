#!/usr/bin/python3
"""Compares what asyncdbg says of who waits for whom with what a program says about itself.

usage: check_graph.py ASYNCDBG TRUTH TARGET_OPTION...
       check_graph.py --self-test

TRUTH is the output of the program; its "graph" is described in README.md. Asks "async graph",
"async deadlocks" and "check" of the process or core. Every deadlock and futurelock of the truth
must be told, and no other; all documents must fit the schema; "check --fail-on" must end with 3
where there is something and with 0 where not.

Prints a line for each difference. Exit status: 0 if there is none, 1 if there is any, 2 when there
is nothing to compare.
"""

import copy
import json
import subprocess
import sys
from pathlib import Path

import check_truth

SCHEMA = Path(__file__).resolve().parent.parent / "docs" / "asyncdbg.schema.json"
# What a healthy program must not be told to have.
VERDICTS = ("deadlock", "futurelock", "no-waker", "closed-channel-wait")


def show(nodes):
    return ", ".join(sorted(nodes)) or "nobody"


def same_address(one, other):
    return one is None or other is None or int(one, 16) == int(other, 16)


class Names:
    """Who waits or holds, as text that is the same in truth and answer.

    A thread that runs a task is that task.
    """

    def __init__(self, threads):
        self.by_number = {}
        for thread in threads:
            self.by_number[thread["number"]] = self.of_thread(thread)

    @staticmethod
    def of_thread(thread):
        if thread.get("task") is not None and not thread.get("root"):
            return f"task {thread['task']}"
        return f"tid {thread['tid']}"

    @staticmethod
    def of_truth(node):
        if node["task"] is not None:
            return f"task {node['task']}"
        return f"tid {node['tid']}"

    def of(self, party):
        """Of {"task": ID or null, "thread": number or null, ...}."""
        if party.get("task") is not None:
            return f"task {party['task']}"
        return self.by_number.get(party.get("thread"), f"thread {party.get('thread')}")


class Comparison:
    def __init__(self, truth):
        self.truth = truth["graph"]
        self.differences = []
        name = Names.of_truth
        self.behind = {name(node) for node in self.truth["behind"]}
        self.lost = {name(lost["who"]): lost["proven"] for lost in self.truth["lost"]}
        self.members = {
            name(node) for deadlock in self.truth["deadlocks"] for node in deadlock["members"]
        }
        self.futurelocked = {
            name(lock["who"]) for lock in self.truth["futurelocks"] if not lock["temporary"]
        }

    def differ(self, text, *args):
        self.differences.append(text.format(*args))

    def compare_deadlocks(self, found):
        """found: a set of members and whether it is certain, for each deadlock that is told."""
        rest = [members for members, _ in found]
        for want in self.truth["deadlocks"]:
            members = {Names.of_truth(node) for node in want["members"]}
            if members in rest:
                rest.remove(members)
            elif not want["native"]:
                self.differ("no deadlock of {}", show(members))
        for members in rest:
            # Whoever never goes on because of a futurelock may be told to wait for others who
            # do not, and whoever owns the only other end to wait for itself.
            stuck = self.futurelocked | self.behind
            if members & self.futurelocked and members <= stuck:
                continue
            if len(members) == 1 and members <= set(self.lost):
                continue
            self.differ("there is no deadlock of {}", show(members))

    def compare_futurelocks(self, found):
        """found: who, the address of the lock, whether it was granted."""
        rest = list(found)
        for want in self.truth["futurelocks"]:
            who = Names.of_truth(want["who"])
            for lock in rest:
                if lock[0] == who and same_address(lock[1], want["object"]):
                    rest.remove(lock)
                    if lock[2] != want["granted"]:
                        self.differ("{}: granted is {}", who, lock[2])
                    break
            else:
                if not want["temporary"]:
                    self.differ("no futurelock of {}", who)
        for who, address, _ in rest:
            self.differ("there is no futurelock of {} at {}", who, address)

    def compare_lost(self, found, deadlocks):
        """found: who, whether it is certain."""
        told = {who for who, _ in found}
        alone = {member for members, _ in deadlocks if len(members) == 1 for member in members}
        for who, proven in self.lost.items():
            if proven and who not in told | alone:
                self.differ("{} is not told to be lost", who)
        for who, _ in found:
            if who not in self.lost:
                self.differ("{} is not lost", who)

    def compare_waits(self, found):
        """found: who, kind, address, the set of holders, whether there may be more."""
        for want in self.truth["waits"]:
            who = Names.of_truth(want["who"])
            holders = {Names.of_truth(node) for node in want["holders"]}
            fits = [
                wait for wait in found
                if wait[0] == who and wait[1] == want["kind"]
                and same_address(wait[2], want["object"])
            ]
            said = f"{who} waits for {want['kind']} {want['object'] or ''}".rstrip()
            if not fits:
                self.differ("{}: not told", said)
            elif not any(wait[3] == holders for wait in fits):
                if want["native"] and any(wait[3] <= holders for wait in fits):
                    continue
                self.differ("{} of {}, not {}", said, show(holders), show(fits[0][3]))
