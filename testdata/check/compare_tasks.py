#!/usr/bin/env python3
"""Compares the tasks of two JSON answers: each tree whole, but of tasks that run their states.

usage: compare_tasks.py [--but-objects] WANTED HAVE
--but-objects  leave out the values of trait objects that are no futures
"""
import json
import sys


def without_objects(value):
    """A layout file has no vtables of traits such as Debug: their values are absent in it."""
    if isinstance(value, list):
        return [without_objects(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: without_objects(part) for key, part in value.items()}
    if "dyn " in str(value.get("type")) and "value" in value:
        value["value"] = None
    return value


def tasks(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    # Where a running task is, is known from a stack, of which a layout file does not know all lines.
    running = ("id", "runtime", "addr", "state", "type", "thread")
    return {task["id"]: {key: value for key, value in task.items()
                         if task["state"] != "running" or key in running}
            for task in document.get("tasks") or []}


def main():
    wanted, have = tasks(sys.argv[-2]), tasks(sys.argv[-1])
    if sys.argv[1] == "--but-objects":
        wanted, have = without_objects(wanted), without_objects(have)
    differences = 0
    for name in sorted(set(wanted) | set(have), key=lambda text: (len(text), text)):
        if wanted.get(name) == have.get(name):
            continue
        differences += 1
        if differences <= 5:
            print(f"task {name}:")
            print("  wanted", json.dumps(wanted.get(name))[:1500])
            print("  have  ", json.dumps(have.get(name))[:1500])
    if not wanted:
        print("there are no tasks to compare")
    return 1 if differences or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
