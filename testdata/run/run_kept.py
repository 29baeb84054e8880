#!/usr/bin/env python3
"""What check says of tasks that keep a lock from others, or from themselves, with a future that they do not poll.

usage: run_kept.py ASYNCDBG PROGRAM

PROGRAM  the program kept; see testdata/programs/futurelocks

Not in optimised code: what a running task holds is only found in variables that the debug info places.
"""
import sys

from harness.findings import expect_finding, findings, ready, run_check

# The mode, what the finding says, and whether it is certain; None: there is none.
MODES = [
    ("keeps", ["possibly, task ", " (kept::wait) waits for Mutex 0x", ", granted to task ", " (kept::keep) (`request",
               "which waits for sleep future, sleeping ", "; 1 more behind"], False),
    ("keeps_well", None, None),
    ("nested", [" has been granted Mutex 0x", " for a future that it holds but does not poll (`update", " and runs on "
                "thread #", "; 2 more behind"], True),
    ("nested_well", None, None),
]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncdbg, program = sys.argv[1:]
    for mode, parts, certain in MODES:
        if mode == "nested" and "/release/" in program:
            continue
        with ready(program, mode) as pid:
            expect_finding(mode, findings(run_check(asyncdbg, "-p", str(pid)), "futurelock"), parts, certain)
        print(f"{mode}: ok", flush=True)


if __name__ == "__main__":
    main()
