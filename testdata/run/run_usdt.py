#!/usr/bin/env python3
"""The static probes of the program usdt_probes, and of programs that are made here.

usage: run_usdt.py [--allow-slow] ASYNCDBG USDT_PROBES

Ends with 77 where the kernel refuses probes to us.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

WAIT = 60  # seconds for each step
TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
failures = 0

# A program without a runtime, with one probe.
PLAIN = """
	.globl _start
_start:	mov $7, %edi
	mov $60, %eax
where:	nop
	syscall
	.section .stapsdt.base,"aG",@progbits,.stapsdt.base,comdat
_.stapsdt.base: .space 1
	.section .note.stapsdt,"",@note
	.balign 4
	.4byte 8, end-start, 3
	.asciz "stapsdt"
start:	.8byte where, _.stapsdt.base, 0
	.asciz "plain"
	.asciz "leaves"
	.asciz "-4@%edi 8@$60"
end:	.balign 4
"""


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"FAILED: {what}: {got}, not {wanted}")


def asyncdbg_json(asyncdbg, status, *words):
    done = subprocess.run([asyncdbg, "--json", *words], capture_output=True, text=True, timeout=WAIT)
    check(f"status of {words}: {done.stderr}", done.returncode, status)
    check_schema(done.stdout, ".json")
    return json.loads(done.stdout), done.stderr


def check_schema(text, ending):
    with tempfile.NamedTemporaryFile("w", suffix=ending) as file:
        file.write(text)
        file.flush()
        done = subprocess.run([os.path.join(TESTDATA, "check", "validate_json.py"),
                               os.path.join(TESTDATA, "..", "docs", "asyncdbg.schema.json"), file.name],
                              capture_output=True, text=True)
    check(f"the schema: {done.stdout}{done.stderr[-300:]}", done.returncode, 0)


def run_list(asyncdbg, program):
    """The probes of a program with a runtime."""
    listed, _ = asyncdbg_json(asyncdbg, 0, program, "probes")
    names = {f"{p['provider']}:{p['name']}" for p in listed["static_probes"]}
    check("probes of usdt_probes", names, {"shop:order", "shop:refund"})
    check("points beside them", bool(listed["points"]), True)
    for p in listed["static_probes"]:
        check(f"arguments of {p['name']}", len(p["arguments"].split()), 2 if p["name"] == "order" else 3)
        check(f"{p['name']} has a semaphore", p["semaphore"] is not None, True)
    text = subprocess.run([asyncdbg, program, "probes"], capture_output=True, text=True, timeout=WAIT)
    check("lines of the text", text.stdout.count("shop:"), len(listed["static_probes"]))
    print("list: done")


def run_plain(asyncdbg, work):
    """A program without a runtime, and the same with a note that is cut short."""
    path, cut = os.path.join(work, "plain"), os.path.join(work, "cut")
    if not shutil.which("cc"):
        print("plain: left out: there is no cc")
        return
    subprocess.run(["cc", "-nostdlib", "-x", "assembler", "-", "-o", path], input=PLAIN, text=True, check=True)
    listed, note = asyncdbg_json(asyncdbg, 0, path, "probes")
    check("probes", [(p["provider"], p["name"], p["arguments"], p["semaphore"]) for p in listed["static_probes"]],
          [("plain", "leaves", "-4@%edi 8@$60", None)])
    check("points", listed["points"], [])
    check("events", listed["events"], [])
    check("the note", "no async runtime" in note, True)
    data = bytearray(open(path, "rb").read())
    size = data.index(b"stapsdt\0") - 8
    data[size:size + 4] = b"\xff" * 4
    open(cut, "wb").write(data)
    os.chmod(cut, 0o755)
    done = subprocess.run([asyncdbg, cut, "probes"], capture_output=True, text=True, timeout=WAIT)
    check("status of a hostile file", done.returncode, 2)
    check(f"note of a hostile file: {done.stderr}", "cannot be used" in done.stderr, True)
    print("plain: done")


def main(arguments):
    words = [word for word in arguments if word != "--allow-slow"]
    if len(words) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        run_list(*words)
        run_plain(words[0], work)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
