"""Makes functions by chance whose variables are set late, assigned again, lent, moved out, bound by let chains or lost
over awaits, and executes them itself, for run_generated_values.py: at each mark it knows which variables are visible
and what they have.
"""
import itertools
import random

FUNCTIONS = 8
KINDS = {"u64": None, "String": "droppable", "Vec<u64>": "droppable", "Ticket": "plain", "Big": "plain"}

HEAD = """\
#![allow(warnings)]
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// Neither `Copy` nor in need of a drop.
struct Ticket {
    id: u64,
    seat: u64,
}

struct Big([u64; 6]);

struct Nap(bool);

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        clobber();
        *WAITING.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

static WAITING: Mutex<Option<Waker>> = Mutex::new(None);

/// While it is executed, the function is suspended.
#[inline(never)]
fn rest() {
    black_box(0);
}

async fn watch() {
    loop {
        tokio::task::yield_now().await;
        let waiting = WAITING.lock().unwrap().take();
        if let Some(waker) = waiting {
            rest();
            waker.wake();
        }
    }
}

#[inline(never)]
fn mark(n: u32) {
    black_box(n);
}

/// Leaves other bytes where the frames of the next calls are.
#[inline(never)]
fn clobber() {
    black_box([0x5555_5555_5555_5555_u64; 400]);
}

#[inline(never)]
fn get(n: u64) -> Option<u64> {
    black_box(Some(n))
}

#[inline(never)]
fn consume_ticket(mut v: Ticket) {
    v.id = 999;
    black_box(&mut v);
}

#[inline(never)]
fn consume_big(mut v: Big) {
    v.0 = [999; 6];
    black_box(&mut v);
}

#[inline(never)]
fn consume_text(v: String) {
    black_box(&v);
}

#[inline(never)]
fn consume_list(v: Vec<u64>) {
    black_box(&v);
}

/// Keeps no reference, which the compiler sees.
#[inline(never)]
fn increase(v: &mut u64) {
    *v += 1;
    clobber();
}

"""

MAKE = {"u64": "black_box({0})", "String": 'format!("t{{}}", {0})', "Vec<u64>": "vec![{0}, 1]",
        "Ticket": "Ticket {{ id: {0}, seat: 7 }}", "Big": "Big([{0}; 6])"}
SHOWN = {"u64": "{0}", "String": '"t{0}"', "Vec<u64>": "[{0}, 1]", "Ticket": "Ticket {{ id: {0}, seat: 7 }}",
         "Big": "Big([{0}, {0}, {0}, {0}, {0}, {0}])"}
CONSUME = {"u64": "black_box", "String": "consume_text", "Vec<u64>": "consume_list", "Ticket": "consume_ticket",
           "Big": "consume_big"}


class Function:
    """first: its line. A statement is a list: what it is, and what that needs."""

    def __init__(self, number, chance, is_async):
        self.number, self.chance, self.is_async = number, chance, is_async
        self.names = self.constant = 0
        self.body = self.block([], 0, set())

    def fresh(self):
        self.names += 1
        return f"v{self.names}"

    def value(self):
        self.constant += 1
        return self.number * 1000 + self.constant

    def block(self, usable, depth, fixed):
        """usable: pairs of a name and a type, of variables that surely have values; this changes it. fixed: names
        that cannot be moved here, as they are declared outside a loop."""
        ret = [["mark"]]
        for _ in range(self.chance.randint(3, 7)):
            ret += self.statement(usable, depth, fixed) + [["mark"]]
        return ret

    def inner(self, usable, depth, fixed):
        """A block of its own, and what is left usable of the outer variables."""
        mine = list(usable)
        body = self.block(mine, depth + 1, fixed)
        return body, [each for each in usable if each in mine]

    def statement(self, usable, depth, fixed):
        chance = self.chance
        movable = [each for each in usable if each[0] not in fixed]
        numbers = [each[0] for each in usable if each[1] == "u64"]
        what = chance.choice(["let", "let", "let", "late", "late move", "move", "move", "rename", "use", "again", "add",
                              "lend", "await", "await",
                              *(["block", "if", "chain", "loop"] if depth < 2 else [])])
        if what == "let":
            each = (self.fresh(), chance.choice(list(KINDS)))
            usable.append(each)
            return [["let", *each, self.value()]]
        if what == "late":
            each = (self.fresh(), chance.choice(list(KINDS)))
            usable.append(each)
            between = [["await"]] if chance.random() < 0.5 else []
            return [["late", *each], ["mark"], *between, ["mark"], ["set", *each, self.value()]]
        if what == "late move" and movable:
            each = (self.fresh(), *chance.choice(movable))
            between = [["await"]] if chance.random() < 0.5 else []
            if each[2] != "u64":
                usable.remove(each[1:])
            usable.append((each[0], each[2]))
            return [["late", each[0], each[2]], ["mark"], *between, ["mark"], ["take", *each]]
        if what == "again" and usable:
            return [["set", *chance.choice(usable), self.value()]]
        if what in ("add", "lend") and numbers:
            return [[what, chance.choice(numbers)]]
        if what == "use" and usable:
            return [["use", *chance.choice(usable)]]
        if what == "move" and movable:
            each = chance.choice(movable)
            if each[1] != "u64":
                usable.remove(each)
            return [["move", *each]]
        if what == "rename" and movable:
            each = chance.choice(movable)
            if each[1] != "u64":
                usable.remove(each)
            usable.append((self.fresh(), each[1]))
            return [["rename", usable[-1][0], *each]]
        if what == "block":
            body, usable[:] = self.inner(usable, depth, fixed)
            return [["block", body]]
        if what == "if":
            then, left = self.inner(usable, depth, fixed)
            other, right = self.inner(usable, depth, fixed)
            usable[:] = [each for each in left if each in right]
            return [["if", chance.random() < 0.5, then, other]]
        if what == "chain":
            name = self.fresh()
            mine = usable + [(name, "u64")]
            body = self.block(mine, depth + 1, fixed)
            usable[:] = [each for each in usable if each in mine]
            return [["chain", name, self.value(), chance.random() < 0.6, body]]
        if what == "loop":
            name = self.fresh()
            mine = usable + [(name, "u64")]
            body = self.block(mine, depth + 1, fixed | {each[0] for each in mine})
            return [["loop", name, chance.randint(1, 2), body]]
        return [["await"]]


class Writer:
    """The text of functions; each mark learns its line."""

    def __init__(self):
        self.lines = HEAD.splitlines()

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def write(self, function):
        self.put(0, f"{'async ' if function.is_async else ''}fn f{function.number}(n: u64) {{")
        function.first = len(self.lines)
        self.body(function, function.body, 1)
        self.put(0, "}")
        self.put(0, "")

    def body(self, function, statements, depth):
        for s in statements:
            getattr(self, f"put_{s[0]}")(function, s, depth)

    def put_mark(self, function, s, depth):
        self.put(depth, f"mark({len(self.lines) + 1});")
        s.append(len(self.lines))

    def put_await(self, function, s, depth):
        self.put(depth, "Nap(false).await;" if function.is_async else "clobber();")
        s.append(len(self.lines) if function.is_async else None)

    def put_let(self, function, s, depth):
        self.put(depth, f"let mut {s[1]} = {MAKE[s[2]].format(s[3])};")

    def put_late(self, function, s, depth):
        self.put(depth, f"let mut {s[1]}: {s[2]};")

    def put_set(self, function, s, depth):
        self.put(depth, f"{s[1]} = {MAKE[s[2]].format(s[3])};")

    def put_move(self, function, s, depth):
        self.put(depth, f"{CONSUME[s[2]]}({s[1]});")

    def put_rename(self, function, s, depth):
        self.put(depth, f"let mut {s[1]} = {s[2]};")

    def put_take(self, function, s, depth):
        self.put(depth, f"{s[1]} = {s[2]};")

    def put_add(self, function, s, depth):
        self.put(depth, f"{s[1]} += 3;")

    def put_lend(self, function, s, depth):
        self.put(depth, f"increase(&mut {s[1]});")

    def put_use(self, function, s, depth):
        self.put(depth, f"black_box(&{s[1]});")

    def put_block(self, function, s, depth):
        self.put(depth, "{")
        self.body(function, s[1], depth + 1)
        self.put(depth, "}")

    def put_if(self, function, s, depth):
        self.put(depth, f"if black_box(n) {'==' if s[1] else '!='} 5 {{")
        self.body(function, s[2], depth + 1)
        self.put(depth, "} else {")
        self.body(function, s[3], depth + 1)
        self.put(depth, "}")

    def put_chain(self, function, s, depth):
        self.put(depth, f"if let Some(mut {s[1]}) = get({s[2]}) && {s[1]} {'>' if s[3] else '<'} 1 {{")
        self.body(function, s[4], depth + 1)
        self.put(depth, "}")

    def put_loop(self, function, s, depth):
        self.put(depth, f"for mut {s[1]} in 0..{s[2]} {{")
        self.body(function, s[3], depth + 1)
        self.put(depth, "}")


class Moment:
    """Where the program stops: at the line of a mark, or suspended at that of an await. truth: what each visible
    variable has; None: it is not set, or was moved out. task: its id; None: the function is not async."""

    def __init__(self, line, is_suspended, truth, task):
        self.line, self.is_suspended, self.truth, self.task = line, is_suspended, dict(truth), task


def execute(statements, outer, task, ret):
    """Appends to ret the moments in the order in which they are executed."""
    mine = {**outer}
    for s in statements:
        if s[0] == "mark" or (s[0] == "await" and s[1]):
            ret.append(Moment(s[1], s[0] == "await", mine, task))
        elif s[0] in ("let", "set"):
            mine[s[1]] = SHOWN[s[2]].format(s[3])
        elif s[0] == "late":
            mine[s[1]] = None
        elif s[0] == "move" and s[2] != "u64":
            mine[s[1]] = None
        elif s[0] in ("add", "lend"):
            mine[s[1]] = str(int(mine[s[1]]) + (3 if s[0] == "add" else 1))
        elif s[0] in ("rename", "take"):
            mine[s[1]] = mine[s[2]]
            if s[3] != "u64":
                mine[s[2]] = None
        inner = []
        if s[0] == "block":
            inner = [(s[1], {})]
        elif s[0] == "if":
            inner = [(s[2] if s[1] else s[3], {})]
        elif s[0] == "chain" and s[3]:
            inner = [(s[4], {s[1]: str(s[2])})]
        elif s[0] == "loop":
            inner = [(s[3], {s[1]: str(i)}) for i in range(s[2])]
        for body, bound in inner:
            after = execute(body, {**mine, **bound}, task, ret)
            mine.update((name, after[name]) for name in mine)
    return mine


class Program:
    """text, the moments in the order in which they come, and resting, the line of the stop where a function is suspended."""

    def __init__(self, seed):
        chance = random.Random(seed)
        writer = Writer()
        self.functions = [Function(i, chance, i % 4 != 0) for i in range(1, FUNCTIONS + 1)]
        self.moments = []
        tasks = itertools.count(2)  # the first one is that of watch()
        for function in self.functions:
            writer.write(function)
            execute(function.body, {"n": "5"}, next(tasks) if function.is_async else None, self.moments)
        writer.put(0, '#[tokio::main(flavor = "current_thread")]')
        writer.put(0, "async fn main() {")
        writer.put(1, "tokio::spawn(watch());")
        for function in self.functions:
            call = f"f{function.number}(black_box(5))"
            writer.put(1, f"tokio::spawn({call}).await.unwrap();" if function.is_async else f"{call};")
        writer.put(0, "}")
        self.resting = writer.lines.index("            rest();") + 1
        self.text = "\n".join(writer.lines) + "\n"
