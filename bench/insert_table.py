#!/usr/bin/env python3
"""Puts the output of a measurement into a document.

usage: insert_table.py DOCUMENT NAME FILE

It replaces what is between the lines `<!-- NAME -->` and `<!-- end of NAME -->`. The heading of the
output is left out: the document has its own.
"""

import sys
from pathlib import Path


def insert(document, name, output):
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = document.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"no place for {name}")
    lines = [line for line in output.splitlines(keepends=True) if not line.startswith("## ")]
    return before + begin + "\n" + "".join(lines).strip("\n") + "\n\n" + end + after


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    path, name, file = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    path.write_text(insert(path.read_text(), name, file.read_text()))


if __name__ == "__main__":
    main()
