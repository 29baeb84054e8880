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
from collections import Counter

from harness import checks, trace as traced
from harness.checks import check
from harness.trace import WAIT, Program, check_calls, check_schema_of, leave_out_refused, take_slow, truth_of, wait_for

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


def asyncdbg_json(asyncdbg, status, *words):
    done = subprocess.run([asyncdbg, "--json", *words], capture_output=True, text=True, timeout=WAIT)
    check(f"status of {words}: {done.stderr}", done.returncode, status)
    check_schema_of("answers", [done.stdout])
    return json.loads(done.stdout), done.stderr


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


def run_many(asyncdbg, work):
    """A program with more notes than are read: the first ones, and how many there are."""
    if not shutil.which("cc"):
        return
    path, number = os.path.join(work, "many"), 70000
    note = PLAIN[PLAIN.index("\t.4byte 8,"):].replace("end-start", "2f-1f").replace("start:", "1:").replace("end:", "2:")
    source = PLAIN[:PLAIN.index("\t.4byte 8,")] + f"\t.rept {number}\n{note}\t.endr\n"
    subprocess.run(["cc", "-nostdlib", "-x", "assembler", "-", "-o", path], input=source, text=True, check=True)
    listed, note = asyncdbg_json(asyncdbg, 1, path, "probes")
    check("many: probes", len(listed["static_probes"]) + listed["static_probes_left_out"], number)
    check("many: some are left out", 0 < listed["static_probes_left_out"] < number, True)
    check("many: the note", "were left out" in note, True)
    done = subprocess.run([asyncdbg, "trace", "--usdt", "plain:*", "--", path], capture_output=True, text=True, timeout=WAIT)
    check(f"many: status of a trace: {done.stderr}", done.returncode, 64)
    print("many: done")


# A program without a runtime, whose arguments are of all kinds.
LOOP = """
	.globl _start
_start:	lea text(%rip), %rsi
	mov $1, %ebx
again:	inc %ebx
where:	nop
	push %rsi
	mov $35, %eax
	lea pause(%rip), %rdi
	xor %esi, %esi
	syscall
	pop %rsi
	jmp again
	.data
pause:	.8byte 0, 20000000
	.fill 64, 1, 0x41
text:	.asciz "\\303\\274ber"
	.section .stapsdt.base,"aG",@progbits,.stapsdt.base,comdat
_.stapsdt.base: .space 1
	.section .note.stapsdt,"",@note
	.balign 4
	.4byte 8, end-start, 3
	.asciz "stapsdt"
start:	.8byte where, _.stapsdt.base, 0
	.asciz "plain"
	.asciz "turns"
	.asciz "-4@%ebx 8@$-60 -8@$-60 8@%rsi 8@symbol 1@1(%rsi) 2@-64(%rsi) 4@-4096(%rbx)"
end:	.balign 4
"""


def run_operands(asyncdbg, work):
    """Arguments of all kinds, in a program without a runtime."""
    path = os.path.join(work, "loop")
    if not shutil.which("cc"):
        print("operands: left out: there is no cc")
        return
    subprocess.run(["cc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", path], input=LOOP, text=True, check=True)
    with subprocess.Popen([path]) as loop:
        done = subprocess.run([asyncdbg, "-p", str(loop.pid), "--jsonl", "trace", "--usdt", "plain:*", "--usdt-strings",
                               "--events", "usdt", "--duration", "500ms"], capture_output=True, text=True, timeout=WAIT)
        loop.kill()
    check(f"status of operands: {done.stderr}", done.returncode, 0)
    check_schema_of("answers", [done.stdout], ".jsonl")
    _, *items, _ = [json.loads(line) for line in done.stdout.splitlines()]
    check("hits", len(items) > 3, True)
    first = items[0]["args"][0]["value"] if items else 0
    for turn, item in enumerate(items):
        counter, unsigned, signed, text, unknown, byte, word, unreadable = item["args"]
        check("a register", counter, {"value": first + turn})
        check("constants", (unsigned, signed), ({"value": str(2**64 - 60)}, {"value": -60}))
        check("a text", text["text"], "über")
        check("memory", (byte, word), ({"value": 0xbc}, {"value": 0x4141}))
        check("what cannot be read", (unknown, unreadable), ({"value": None}, {"value": None}))
        check("no task", (item["task"], item["by"]), (None, None))
    print("operands: done")


# A library with a probe that is always on, and one that is on while its semaphore is not 0.
LIBRARY = """
	.globl work
	.type work, @function
work:
always:	nop
	cmpw $0, users(%rip)
	je 1f
guarded: nop
1:	ret
	.section .probes,"aw",@progbits
users:	.2byte 0
	.section .stapsdt.base,"aG",@progbits,.stapsdt.base,comdat
_.stapsdt.base: .space 1
	.section .note.stapsdt,"",@note
	.balign 4
	.4byte 8, 2f-1f, 3
	.asciz "stapsdt"
1:	.8byte always, _.stapsdt.base, 0
	.asciz "library"
	.asciz "always"
	.asciz "-4@%edi"
2:	.balign 4
	.4byte 8, 4f-3f, 3
	.asciz "stapsdt"
3:	.8byte guarded, _.stapsdt.base, users
	.asciz "library"
	.asciz "guarded"
	.asciz "-4@%edi"
4:	.balign 4
"""
LIBRARY_TURNS = 20
LIBRARY_USER = """
	#include <stdio.h>
	#include <unistd.h>
	void work(int turn);
	int main(int n, char **words)
	{
		char byte;

		puts("ready");
		fflush(stdout);
		if (n == 1 && read(0, &byte, 1) != 1)
			return 1;
		for (int i = 0; i < %d; i++)
			work(i);
		return 0;
	}
""" % LIBRARY_TURNS


def build_library(work):
    library, user = os.path.join(work, "libwork.so"), os.path.join(work, "user")
    subprocess.run(["cc", "-shared", "-nostdlib", "-x", "assembler", "-", "-o", library], input=LIBRARY, text=True,
                   check=True)
    subprocess.run(["cc", "-x", "c", "-", "-x", "none", "-o", user, library, f"-Wl,-rpath,{work}"], input=LIBRARY_USER, text=True,
                   check=True)
    return library, user


def check_library_hits(what, text):
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    for name in ("always", "guarded"):
        turns = [i["args"][0]["value"] for i in lines if i.get("event") == "usdt" and i["name"] == name]
        check(f"{what}: {name}", turns, list(range(LIBRARY_TURNS)))


def run_library(asyncdbg, work):
    """The probes of a library, of a process that runs and of a program that is started."""
    if not shutil.which("cc"):
        print("library: left out: there is no cc")
        return
    library, user = build_library(work)
    words = ["--jsonl", "trace", "--events", "usdt", "--usdt", "library:*"]
    with subprocess.Popen([user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        running.stdout.readline()
        listed, _ = asyncdbg_json(asyncdbg, 0, "-p", str(running.pid), "probes")
        own = [(p["file"], p["name"], p["semaphore"] is not None) for p in listed["static_probes"]
               if p["provider"] == "library"]
        check("library: probes", own, [(library, "always", False), (library, "guarded", True)])
        tracer = subprocess.Popen([asyncdbg, "-p", str(running.pid), *words], stdout=subprocess.PIPE, text=True)
        head = tracer.stdout.readline()
        running.stdin.write("x")
        running.stdin.close()
        rest = tracer.communicate(timeout=WAIT)[0]
    check("library: status", tracer.returncode, 0)
    check_schema_of("answers", [head + rest], ".jsonl")
    check_library_hits("library of a process", rest)
    done = subprocess.run([asyncdbg, *words, "--", user, "now"], capture_output=True, text=True, timeout=WAIT)
    check(f"library: status of a program that is started: {done.stderr}", done.returncode, 0)
    check_library_hits("library of a program that is started", done.stdout)
    print("library: done")


def run_twice_writable(asyncdbg, work):
    """Where the kernel would raise another number than the semaphore, nothing is attached."""
    if not shutil.which("cc"):
        return
    source = LIBRARY.replace('.globl work', '.globl _start').replace('.type work, @function\nwork:', '_start: nop')
    source = source.replace('1:	ret\n', '1:	mov $34, %eax\n	syscall\n', 1)
    script, path = os.path.join(work, "twice.ld"), os.path.join(work, "twice")
    with open(script, "w", encoding="utf-8") as file:
        file.write("PHDRS { text PT_LOAD FLAGS(5); one PT_LOAD FLAGS(6); two PT_LOAD FLAGS(6); }\n"
                   "SECTIONS { . = 0x400000 + SIZEOF_HEADERS; .text : { *(.text) } :text\n"
                   ".stapsdt.base : { *(.stapsdt.base) } :text\n"
                   ". = 0x500000 + SIZEOF_HEADERS + 0x100; .data : { *(.data) LONG(1) } :one\n"
                   ". = 0x600000 + SIZEOF_HEADERS + 0x110; .probes : { *(.probes) } :two\n"
                   ".note.stapsdt : { *(.note.stapsdt) } :NONE }\n")
    subprocess.run(["cc", "-nostdlib", "-static", "-x", "assembler", "-", "-o", path, f"-Wl,-T,{script},-z,max-page-size=4096"],
                   input=source, text=True, check=True)
    with subprocess.Popen([path]) as running:
        done = subprocess.run([asyncdbg, "-p", str(running.pid), "trace", "--events", "usdt", "--usdt", "library:guarded",
                               "--duration", "100ms"], capture_output=True, text=True, timeout=WAIT)
        running.kill()
    check(f"mapped twice: status: {done.stderr}", done.returncode, 2)
    check(f"mapped twice: {done.stderr}", "cannot be switched on" in done.stderr, True)
    print("mapped twice: done")


def run_started(asyncdbg, program):
    """A program that asyncdbg starts: its semaphores are raised before its first instruction."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        done = subprocess.run([asyncdbg, "--jsonl", "trace", "-o", file.name, "--usdt", "shop:*", "--events", "usdt", "--",
                               program, "now"], capture_output=True, text=True, timeout=WAIT)
        check(f"started: status: {done.stderr}", done.returncode, 0)
        _, *items, end = [json.loads(line) for line in open(file.name, encoding="utf-8")]
    truth = truth_of(done.stdout.splitlines())
    for name in ("order", "refund"):
        found = [i for i in items if i.get("name") == name]
        check(f"started: hits of {name}", len(found), truth[f"fired.{name}"])
        check(f"started: {name} was computed", truth[f"evaluated.{name}"], truth[f"fired.{name}"])
        check_task(name, found, truth)
    check("started: lost events", end["lost"], 0)
    print("started: done")


class Trace(traced.Trace):
    """asyncdbg on a program that runs when a line is written to it."""

    def __init__(self, asyncdbg, program, *options):
        self.program = Program(program)
        super().__init__(asyncdbg, self.program.child.pid, ["--usdt", *options])

    def run_once(self):
        """Lets the program run once and end; returns its own counts."""
        truth = self.program.run("go")
        self.program.end()
        self.finish()
        check_schema_of("a trace", ["".join([self.first, *self.lines])], ".jsonl")
        return truth


def hits(trace, name):
    return [i for i in trace.items if i["event"] == "usdt" and i["name"] == name]


def check_task(name, found, truth):
    """The task that was polled at each hit is one of the function that the program says."""
    functions = Counter(i["type"].split("::{")[0] for i in found if i["by"])
    check(f"tasks of {name}", {f"in.{name}.{key}": n for key, n in functions.items()},
          {key: n for key, n in truth.items() if key.startswith(f"in.{name}.")})
    check(f"{name}: by and task", all(i["by"] == i["task"] for i in found), True)


def check_texts(name, index, found, truth, key):
    total = sum(len(i["args"][index]["text"].encode()) for i in found)
    check(f"bytes of the texts of {name}", total, truth[key])


def run_trace(asyncdbg, program, options):
    """All probes with their texts, beside the events of the runtime."""
    trace = Trace(asyncdbg, program, "shop:*", "--usdt-strings", *options)
    if not trace.head:
        trace.program.end()
        leave_out_refused(trace.message())
        check("a trace", trace.message(), "")
        return
    truth = trace.run_once()
    orders, refunds = hits(trace, "order"), hits(trace, "refund")
    check("usdt is in the events", "usdt" in trace.head["events"], True)
    for name, found in (("order", orders), ("refund", refunds)):
        check(f"hits of {name}", len(found), truth[f"fired.{name}"])
        check(f"{name} was computed", truth[f"evaluated.{name}"], truth[f"fired.{name}"])
        check_task(name, found, truth)
    check("numbers of orders", sum(i["args"][0]["value"] for i in orders), truth["sum.order.number"])
    check("cents of refunds", sum(i["args"][0]["value"] for i in refunds), truth["sum.refund.cents"])
    check("numbers of refunds", sum(i["args"][1]["value"] for i in refunds), truth["sum.refund.number"])
    check_texts("order", 1, orders, truth, "text.order.item")
    check_texts("refund", 2, refunds, truth, "text.refund.reason")
    check("a small number has no text", "text" in refunds[0]["args"][1], False)
    check("polls beside them", any(i["event"] == "task-poll-start" for i in trace.items), True)
    check("lost events", trace.end["lost"], 0)
    print("trace: done")


def run_some(asyncdbg, program, options):
    """One probe of two, without texts and without other events."""
    trace = Trace(asyncdbg, program, "*:ord?r", "--events", "usdt", *options)
    truth = trace.run_once()
    check("status", trace.status, 0)
    check("events", {i["event"] for i in trace.items}, {"usdt"})
    check("names", {i["name"] for i in trace.items}, {"order"})
    check("hits", len(trace.items), truth["fired.order"])
    check("no texts", any("text" in arg for i in trace.items for arg in i["args"]), False)
    check("a probe that nobody traces is not computed", truth["evaluated.refund"], 0)
    print("some: done")


def run_after(asyncdbg, program):
    """asyncdbg was killed: nobody listens any more."""
    trace = Trace(asyncdbg, program, "shop:*", "--events", "usdt")
    trace.child.kill()
    trace.child.wait(WAIT)
    silent = wait_for(lambda: trace.program.run("go")["evaluated.order"] == 0)
    check("nothing is computed after asyncdbg was killed", silent, True)
    trace.program.end()
    print("after: done")


def run_wrong(asyncdbg, program):
    """Calls that cannot be answered."""
    running = Program(program)
    check_calls(asyncdbg, [
        (["--usdt", "order"], 64, "PROVIDER:NAME"),
        (["--usdt", "shop:nothing"], 64, "no static probe"),
        (["--usdt-strings"], 64, "--usdt"),
        (["--events", "usdt"], 64, "--usdt"),
    ], ["-p", str(running.child.pid), "trace"])
    running.end()
    done = subprocess.run([asyncdbg, "trace", "--usdt", "shop:nothing", "--", program, "now"], capture_output=True,
                          text=True, timeout=WAIT)
    check("status of a program that is started", done.returncode, 64)
    check(f"message of a program that is started: {done.stderr}", "no static probe" in done.stderr, True)
    check("it has not run", done.stdout, "")
    print("wrong calls: done")


def main(arguments):
    words = take_slow(arguments)
    if len(words) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        run_list(*words)
        run_plain(words[0], work)
        run_many(words[0], work)
        run_operands(words[0], work)
        run_library(words[0], work)
        run_twice_writable(words[0], work)
    run_trace(*words, traced.slow)
    run_some(*words, traced.slow)
    run_started(*words)
    run_after(*words)
    run_wrong(*words)
    checks.end()


if __name__ == "__main__":
    main(sys.argv[1:])
