#!/usr/bin/python3
"""Compares an answer about a live program with one about a core made of it right after.

usage: compare_answers.py LIVE.json CORE.json

They must be the same but for what a core does not have (names of threads), what is only said of
one kind of target, and what time changes. Of tasks and threads that are at work only the place
in the answer is compared. Prints the differences; exit status 1 when there are some.
"""

import json
import sys

# Of the target and the answer as a whole.
KIND_KEYS = ("kind", "core", "command", "exe", "signal", "signal_name", "signal_tid", "saved_file",
             "saved_when")
TIME_KEYS = ("remaining_ms", "now")
# Of a wait for a file descriptor: only the kernel knows them.
KERNEL_KEYS = ("descriptor", "local", "peer", "phrase", "send_queue", "unacknowledged",
               "peer_window", "retransmits", "syns_sent", "tcp_state")


def wait(value):
    """A wait without what time changes."""
    value = {key: item for key, item in value.items() if key not in TIME_KEYS}
    if value.get("kind") in ("sleep", "interval"):
        value.pop("phrase", None)
    if value.get("kind") in ("io", "blocking", "websocket"):
        value = {key: item for key, item in value.items() if key not in KERNEL_KEYS}
        # Which descriptor a user's own object means, epoll knows.
        if value.get("resource") in ("AsyncFd", "I/O"):
            value.pop("fd", None)
    # Where only a registration is known, its descriptor is epoll's alone.
    if value.get("kind") == "waker" and value.get("resource") == "I/O":
        value = {key: item for key, item in value.items() if key not in (*KERNEL_KEYS, "fd", "wakers")}
    return value


def at_work(value):
    return any(str(value.get(key)).startswith(("running", "scheduled")) for key in ("state",))


def strip(value, key=None):
    if isinstance(value, list):
        return [strip(item) for item in value]
    if not isinstance(value, dict):
        return value
    if key == "target":
        return {k: v for k, v in value.items() if k not in KIND_KEYS}
    if key == "wait":
        value = wait(value)
    # The phrase of a wait once more.
    value = {k: v for k, v in value.items() if k != "waiting_on"}
    if "tid" in value or "root" in value:
        if at_work(value):
            return {k: value.get(k) for k in ("id", "tid", "number", "role", "runtime")}
        value = {k: v for k, v in value.items() if "tid" not in value or k != "name"}
    return {k: strip(v, k) for k, v in value.items()}


def differences(live, core, path=""):
    if isinstance(live, dict) and isinstance(core, dict):
        for key in sorted(live.keys() | core.keys()):
            yield from differences(live.get(key), core.get(key), path + "/" + key)
    elif isinstance(live, list) and isinstance(core, list) and len(live) == len(core):
        for number, (one, other) in enumerate(zip(live, core)):
            yield from differences(one, other, "{}/{}".format(path, number))
    elif live != core:
        yield "{}: live {}, core {}".format(
            path, json.dumps(live)[:200], json.dumps(core)[:200]
        )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    answers = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        answer.pop("pause_ms", None)
        answer.pop("stop", None)
        answers.append(strip(answer))
    found = list(differences(*answers))
    for difference in found[:20]:
        print(difference)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
