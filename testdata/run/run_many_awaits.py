#!/usr/bin/env python3
"""Asks about functions and modules of sizes that nobody writes by hand, but that compile.

usage: run_many_awaits.py ASYNCDBG PROFILE

An async function of a hundred awaits, whose frame is larger than a page; one around another function of thousands
of lines; a type and a function in 150 modules,
one in another; a Context behind as many variables as a screen has lines; a poll with more inlined calls than anybody counts. The program is built under
CARGO_TARGET_DIR; skipped without cargo.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "make"))
from generated_program import build, read_options
from run_generated_values import locals_of
from harness.checks import check, end
from harness.session import Session

AWAITS, STUCK, MODULES, LETS, INLINED, LINES = 100, 90, 150, 30, 1200, 30000
STOP = STUCK - 10  # behind the await of this number

BEGIN = f"""\
use std::hint::black_box;
use std::task::{{Context, Waker}};
static LOCK: tokio::sync::Mutex<u64> = tokio::sync::Mutex::const_new(0);
#[inline(never)]
fn early(at: u64) {{ black_box(at); }}
#[inline(never)]
fn after(at: u64) {{ black_box(at); }}
async fn leaf(n: u64) -> u64 {{
    if n == {STUCK} {{ std::future::pending::<()>().await }}
    tokio::task::yield_now().await;
    n
}}
async fn hang() {{ std::thread::park() }}
trait Now {{ fn poll_now(self, cx: &mut Context<'_>); }}
impl<F: std::future::Future> Now for std::pin::Pin<&mut F> {{
    fn poll_now(self, cx: &mut Context<'_>) {{ let _ = self.poll(cx); }}
}}
"""

END = f"""\
#[tokio::main(flavor = "current_thread")]
async fn main() {{
    std::thread::spawn(plain);
    std::thread::spawn(|| tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(deep()));
    let many = tokio::spawn(many(1));
    let waits = tokio::spawn(async {{ *LOCK.lock().await += 1; }});
    around(1).await;
    let buried = tokio::spawn({"::".join(f"m{i}" for i in range(MODULES))}::buried(1));
    while !many.is_finished() && LAST.load(std::sync::atomic::Ordering::SeqCst) < {STUCK - 1} {{
        tokio::task::yield_now().await;
    }}
    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    println!("ready");
    let _ = tokio::join!(many, waits, buried);
}}
"""


def many():
    """The variable `late` of a number has its value only behind the await. Each guard has the name `held`."""
    yield "async fn many(n: u64) -> u64 {"
    yield "    let mut sum = n;"
    for i in range(1, AWAITS + 1):
        yield f"    let kept{i} = n + {i}; let late{i};"
        yield "    { let held = LOCK.lock().await;"
        yield f"    sum += leaf({i}).await; black_box(&held); }}"
        yield f"    early({i});"
        yield f"    late{i} = sum + {i};"
        yield f"    after({i}); black_box(&late{i});"
        yield f"    LAST.store({i}, std::sync::atomic::Ordering::SeqCst);"
    yield from (f"    black_box(&kept{i});" for i in range(1, AWAITS + 1))
    yield "    sum"
    yield "}"


def plain():
    yield "fn plain() {"
    yield from (f"    let v{i} = black_box({i}u64);" for i in range(LETS))
    yield "    let mut cx = Context::from_waker(Waker::noop());"
    yield "    let mut f = Box::pin(hang());"
    yield "    f.as_mut().poll_now(&mut cx);"
    yield from (f"    black_box(v{i});" for i in range(LETS))
    yield "}"


def inlined():
    """Each function is inlined in the one before it, all of them in the poll of an async function."""
    yield "#[inline(always)]"
    yield f"fn i{INLINED}() {{"
    yield "    loop { std::thread::park(); } // the innermost call"
    yield "}"
    yield from (f"#[inline(always)] fn i{i}() {{ i{i + 1}() }}" for i in range(INLINED))
    yield "async fn deep() {"
    yield "    i0(); // the outermost call"
    yield "}"


def around():
    yield "async fn around(n: u64) -> u64 {"
    yield "    fn within(mut n: u64) -> u64 {"
    yield from (f"        n = black_box(n + {i % 7});" for i in range(LINES))
    yield "        n"
    yield "    }"
    yield "    black_box(n); // the first line of its body"
    yield "    within(n)"
    yield "}"


def modules():
    yield "mod m0 { " + " ".join(f"pub mod m{i} {{" for i in range(1, MODULES))
    yield "    use std::hint::black_box; pub struct Buried(u64);"
    yield "    pub async fn buried(n: u64) {"
    yield "        let b = Buried(n); std::future::pending::<()>().await; black_box(&b.0);"
    yield "    }"
    yield "}" * MODULES


class Program:
    def __init__(self):
        counter = "static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);"
        self.text = BEGIN + "\n".join([counter, *many(), *plain(), *inlined(), *around(), *modules()]) + "\n" + END

    def line(self, text):
        return next(i for i, line in enumerate(self.text.splitlines(), 1) if text in line)


def value_of(session, name):
    """What `locals` has of a variable: its value and whether it is in doubt."""
    session.ask("frame 1")
    shown = next((v for v in locals_of(session.ask("locals")) if v["name"] == name), None)
    return shown and (shown["value"], shown["uncertain"])


def look_at_stops(asyncdbg, path):
    session = Session(asyncdbg, "--no-cache")
    total = 1 + STOP * (STOP + 1) // 2
    try:
        session.ask(f"break generated::early if at == {STOP}")
        session.ask(f"break generated::after if at == {STOP}")
        session.ask(f"run -- {path}")
        check("what is not set yet", value_of(session, f"late{STOP}"), (None, False))
        check("what the coroutine keeps", value_of(session, "kept1"), (str(1 + 1), False))
        session.ask("continue")
        check("what is set now", value_of(session, f"late{STOP}"), (str(total + STOP), False))
        session.ask("kill")
        session.end()
    finally:
        session.close()


def look_at_breakpoint(asyncdbg, program, path):
    """A function is found whose own lines are behind those of many others."""
    session = Session(asyncdbg, "--no-cache")
    try:
        session.ask("break generated::around")
        session.ask(f"run -- {path}")
        places = find_all(session.ask("info breakpoints"), "address")
        line = program.line("// the first line of its body")
        check("where the function begins", [p["line"] for p in places], [line])
        session.ask("kill")
        session.end()
    finally:
        session.close()


def ask(asyncdbg, pid, *words):
    """An answer, which may be incomplete: that of status 1."""
    done = subprocess.run([asyncdbg, "--no-cache", "-p", str(pid), "--json", *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def find_all(answer, key):
    if isinstance(answer, list):
        return [found for each in answer for found in find_all(each, key)]
    if not isinstance(answer, dict):
        return []
    return ([answer] if key in answer else []) + [f for each in answer.values() for f in find_all(each, key)]


def look_at_inlined(asyncdbg, program, pid):
    """The whole stack is shown, each call at its own line."""
    threads = ask(asyncdbg, pid, "threads")["threads"]
    stack = next(t["frames"] for t in threads if any(f["function"] == "generated::i0" for f in t["frames"] or []))
    names = [f["function"] for f in stack]
    last = names.index(f"generated::i{INLINED}") if f"generated::i{INLINED}" in names else 0
    check("inlined calls", names[last : last + INLINED + 1], [f"generated::i{i}" for i in range(INLINED, -1, -1)])
    check("line of the innermost call", stack[last]["line"], program.line("// the innermost call"))
    check("line of the poll", stack[last + INLINED + 1]["line"], program.line("// the outermost call"))


def look_at_tasks(asyncdbg, program, path):
    with subprocess.Popen([path], stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            tasks = ask(asyncdbg, process.pid, "async", "backtrace", "all")
            names = {task["root"]["function"] for task in tasks["tasks"]}
            whole = "::".join(["generated", *(f"m{i}" for i in range(MODULES)), "buried"])
            check("the name of the task in the modules", whole in names, True)
            notes = [note for note in tasks["notes"] if "async code" in json.dumps(note)]
            check("who polls without a runtime", "generated::plain:" in json.dumps(notes), True)
            look_at_inlined(asyncdbg, program, process.pid)
            held = [h for h in find_all(ask(asyncdbg, process.pid, "async", "graph"), "declared")
                    if h["path"] == "held"]
            where = {(h["declared"], h["line"]) for h in held}
            line = program.line(f"leaf({STUCK}).await") - 1
            check("where the guard is declared", where, {(True, line)})
        finally:
            process.kill()


def main():
    options = read_options()
    program = Program()
    path = build(program.text, options.profile, "many_awaits", "2024")
    look_at_tasks(options.asyncdbg, program, path)
    look_at_stops(options.asyncdbg, path)
    look_at_breakpoint(options.asyncdbg, program, path)
    end()


if __name__ == "__main__":
    main()
