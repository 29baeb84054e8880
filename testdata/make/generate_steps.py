"""Makes programs by chance whose functions say which of their lines they execute, for run_generated_steps.py.

Each function awaits or calls others of a higher number, so that all of them end. What `record.rs` of the program
`stepping` records is the truth.
"""
import random

FUNCTIONS = 12
KINDS = ["async", "async", "async", "method", "by_hand", "plain", "outlined", "generic", "block"]
AWAITED = {"async", "method", "by_hand", "generic", "block"}

HEAD = """\
#![allow(warnings)]
mod record;

use record::Me;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

static NUMBERS: AtomicU32 = AtomicU32::new(2);

#[inline(never)]
fn new() -> Me {
    Me(NUMBERS.fetch_add(1, Ordering::SeqCst))
}

struct Pause(u32);

impl Future for Pause {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        if self.0 == 0 {
            return Poll::Ready(3);
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn yields(number: u32) -> u32 {
    tokio::task::yield_now().await;
    number
}

async fn keep<F: Future<Output = u32>>(future: F) -> u32 {
    future.await
}

struct Wrap<F>(F);

impl<F: Future<Output = u32> + Unpin> Future for Wrap<F> {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        Pin::new(&mut self.0).poll(cx)
    }
}

struct Service(u32);

static SERVICE: Service = Service(7);
"""

HEADS = {
    "async": ["async fn f{i}(me: Me, x: u32) -> u32 {{"],
    "method": ["impl Service {{", "async fn f{i}(&self, me: Me, x: u32) -> u32 {{"],
    "generic": ["async fn f{i}<T: Into<u64> + Copy>(me: Me, y: T) -> u32 {{"],
    "block": ["fn f{i}(me: Me, x: u32) -> impl Future<Output = u32> {{", "async move {{"],
    "plain": ["fn f{i}(me: Me, x: u32) -> u32 {{"],
    "outlined": ["#[inline(never)]", "fn f{i}(me: Me, x: u32) -> u32 {{"],
    "by_hand": ["struct F{i}(Me, u32);", "impl Future for F{i} {{", "type Output = u32;",
                "fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {{"],
}


class Function:
    """kind: see KINDS. first, last: its lines that say something."""

    def __init__(self, number, kind):
        self.number, self.kind, self.first, self.last = number, kind, 0, 0

    @property
    def is_async(self):
        return self.kind in AWAITED - {"by_hand"}


class Body:
    """Writes the statements of one function."""

    def __init__(self, program, function, depth):
        self.program, self.function, self.depth = program, function, depth
        self.chance, self.variables, self.named = program.chance, ["x"], 0

    def line(self, text):
        self.program.lines.append("    " * self.depth + text)

    def value(self):
        if self.variables and self.chance.random() < .7:
            return self.chance.choice(self.variables)
        return str(self.chance.randint(0, 5))

    def said(self):
        return f"me.pass({self.value()})"

    def let(self, expression):
        self.named += 1
        self.line(f"let v{self.named} = {expression};")
        self.variables.append(f"v{self.named}")

    def callees(self, awaited):
        return [f for f in self.program.functions[self.function.number + 1:] if (f.kind in AWAITED) == awaited]

    def call(self):
        callees = self.callees(False)
        return f"f{self.chance.choice(callees).number}(new(), {self.said()})" if callees else self.said()

    def future(self):
        callees = self.callees(True)
        if not callees or self.chance.random() < .15:
            return self.chance.choice([f"Pause({self.said()} % 3)", f"yields({self.said()})"])
        callee = self.chance.choice(callees)
        i, said = callee.number, self.said()
        made = {"method": f"Service::f{i}(&SERVICE, new(), {said})",
                "by_hand": f"F{i}(new(), {said} % 3)",
                "generic": f"f{i}(new(), {said} as {self.chance.choice(['u8', 'u32', 'u64'])})"}
        future = made.get(callee.kind, f"f{i}(new(), {said})")
        return self.chance.choices([future, f"Box::pin({future})", f"Wrap(Box::pin({future}))"], [78, 12, 10])[0]

    def together(self):
        one, other = self.future(), self.future()
        return self.chance.choice([
            f"{{ let (a, b) = tokio::join!({one}, {other}); a + b }}",
            f"tokio::spawn(keep({one})).await.unwrap()",
            f"tokio::time::timeout(std::time::Duration::from_secs(9), {one}).await.unwrap()",
            f"tokio::select! {{ biased; a = {one} => a, b = {other} => b }}"])

    def block(self, level, before, after="}"):
        variables = list(self.variables)
        self.line(before)
        self.depth += 1
        self.statements(level + 1, self.chance.randint(1, 3))
        self.depth -= 1
        self.variables = variables
        if after:
            self.line(after)

    def branch(self, level):
        has_else = self.chance.random() < .6
        self.block(level, f"if {self.said()} % 2 == {self.chance.randint(0, 1)} {{", None if has_else else "}")
        if has_else:
            self.block(level, "} else {")

    def loop(self, level):
        self.named += 1
        counter, variables = f"v{self.named}", list(self.variables)
        self.line(f"let mut {counter} = {self.chance.randint(1, 3)};")
        self.line(f"while me.pass({counter}) != 0 {{")
        self.depth += 1
        self.line(f"{counter} = me.pass({counter} - 1);")
        self.statements(level + 1, self.chance.randint(1, 2))
        self.depth -= 1
        self.line("}")
        self.variables = variables

    def match(self, level):
        self.line(f"match {self.said()} % 3 {{")
        self.depth += 1
        for pattern in "01_":
            self.block(level, f"{pattern} => {{")
        self.depth -= 1
        self.line("}")

    def statement(self, level):
        is_async, nests = self.function.is_async, level < 2
        kinds = [(20, lambda: self.let(self.said())),
                 (10, lambda: self.let(self.call())),
                 (25 * is_async, lambda: self.let(f"{self.future()}.await")),
                 (7 * is_async, lambda: self.let(self.together())),
                 (8 * nests, lambda: self.branch(level)),
                 (8 * nests, lambda: self.loop(level)),
                 (8 * nests, lambda: self.match(level)),
                 (4 * (level == 1 and self.function.kind != "by_hand"), lambda: self.line(f"return {self.said()};")),
                 (10, lambda: self.let(f"{self.said()} ^ {self.value()}"))]
        self.chance.choices([write for _, write in kinds], [weight for weight, _ in kinds])[0]()

    def statements(self, level, n):
        for _ in range(n):
            self.statement(level)

    def write(self):
        if self.function.kind == "generic":
            self.line("let x = me.pass(y.into() as u32);")
        if self.function.number == 0:
            for _ in range(5):
                self.let(f"{self.future()}.await")
        self.statements(0, self.chance.randint(4, 7))
        self.line(f"{self.said()} + {self.variables[-1]}")

    def write_by_hand(self):
        self.line("let me = self.0.at();")
        self.line("if me.pass(self.1) == 0 {")
        self.line("    return Poll::Ready(me.pass(9));")
        self.line("}")
        self.line("self.1 = me.pass(self.1 - 1);")
        self.variables = []
        self.statements(1, self.chance.randint(0, 3))
        self.line("cx.waker().wake_by_ref();")
        self.line("me.pass(Poll::Pending)")


class Program:
    """The program of one number: its text, and its functions. The first one is the root."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.lines = HEAD.splitlines()
        self.functions = [Function(i, self.chance.choice(KINDS) if i else "async") for i in range(FUNCTIONS)]
        for function in self.functions:
            self.write(function)
        self.write_main()

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self, function):
        heads = HEADS[function.kind]
        nested = sum(head.endswith("{{") for head in heads)
        self.lines.extend(["", *[head.format(i=function.number) for head in heads]])
        body = Body(self, function, nested)
        function.first = len(self.lines) + 1
        body.write_by_hand() if function.kind == "by_hand" else body.write()
        function.last = len(self.lines)
        self.lines.extend("}" * nested)

    def write_main(self):
        flavor = self.chance.choice(['flavor = "current_thread"', 'flavor = "multi_thread", worker_threads = 2'])
        root = "f0(Me(1), std::env::args().count() as u32)"
        self.lines.extend([
            "", f"#[tokio::main({flavor})]", "async fn main() {",
            f"    tokio::spawn({root}).await.unwrap();" if self.chance.random() < .4 else f"    {root}.await;",
            '    println!("{}", record::tell("generated"));',
            "    std::process::exit(0);", "}"])
