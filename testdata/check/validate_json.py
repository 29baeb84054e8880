#!/usr/bin/python3
"""Validates what asyncdbg printed against its JSON schema.

usage: validate_json.py SCHEMA FILE...

A FILE has one document of --json; or, ending in .jsonl, a document of --jsonl: its head on the
first line, then a task on each line, or of a trace an event, and its end. A .jsonl beside a .json must say the same.
"""

import json
import os
import sys

try:
    import jsonschema
except ImportError:
    sys.exit("python3-jsonschema is missing: JSON cannot be compared with its schema")


def read(path):
    with open(path, encoding="utf-8") as file:
        if not path.endswith(".jsonl"):
            return json.load(file)
        head, *rows = map(json.loads, file)
    if head["command"] == "trace":
        *head["items"], head["end"] = rows
    elif "target" in head:
        head["tasks"] = rows
    return head


def problems(validator, path):
    try:
        document = read(path)
    except ValueError as err:
        yield "{}: {}".format(path, err)
        return
    for error in validator.iter_errors(document):
        place = "/".join(map(str, error.absolute_path))
        yield "{}: {}: {}".format(path, place, error.message[:300])
    document_path = path[: -len("l")]
    if path.endswith(".jsonl") and os.path.exists(document_path) and read(document_path) != document:
        yield "{}: says something else than {}".format(path, os.path.basename(document_path))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    cls = jsonschema.validators.validator_for(schema)
    cls.check_schema(schema)
    validator = cls(schema)
    bad = [problem for path in sys.argv[2:] for problem in problems(validator, path)]
    for problem in bad:
        print(problem)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
