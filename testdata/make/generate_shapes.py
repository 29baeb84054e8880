"""Makes a program with every kind of loop and branch around every kind of await, for run_generated_shapes.py.

Each function is a loop, in it a branch, in that an await; it says which of its lines it executes, as those of
generate_steps.py do. With an argument no await of the program suspends.
"""
import itertools

from generate_steps import HEAD, Function

SHAPES_HEAD = HEAD.replace("if self.0 == 0 {", "if self.0 == 0 || std::env::args().count() > 1 {") + """
async fn text(length: u32) -> String {
    Pause(1).await;
    "x".repeat(length as usize)
}

async fn fails(number: u32) -> Result<u32, String> {
    Pause(1).await;
    if number > 2 { Err(number.to_string()) } else { Ok(1) }
}

async fn some(number: u32) -> Option<u32> {
    Pause(1).await;
    if number < 3 { Some(1) } else { None }
}
"""

# Each loop begins with s below 3 and ends when it is not; "*" stands for the branch.
LOOPS = [
    ["*"],
    ["while me.pass(s) < 3 {", "*", "}"],
    ["loop {", "*", "if me.pass(s) >= 3 {", "break;", "}", "}"],
    ["for _ in me.rounds(2) {", "*", "}"],
    ["for _ in 0..2 {", "*", "}"],
    ["while let Some(_) = me.pass(list.pop()) {", "*", "}"],
    ["while let Some(_) = some(me.pass(s)).await {", "*", "}"],
    ["'outer: loop {", "while me.pass(s) < 5 {", "*", "if me.pass(s) > 2 {", "break 'outer;", "}", "}", "}"],
]
# "*" is where the await is.
BRANCHES = [
    ["*"],
    ["if me.pass(s) % 2 == 0 {", "*", "} else {", "s += me.pass(1);", "}"],
    ["if me.pass(s) == 9 {", "s += me.pass(1);", "} else {", "*", "}"],
    ["if let Some(_) = me.pass(Some(s)) {", "*", "}"],
    ["match me.pass(s) % 3 {", "0 => {", "*", "}", "1 => s += me.pass(1),", "_ => s += me.pass(2),", "}"],
    ["match me.pass(s) {", "9 => s += me.pass(1),", "n if me.pass(n) > 8 => return s,", "_ => {", "*", "}", "}"],
    ["let Some(_) = me.pass(Some(s)) else {", "return s;", "};", "*"],
    ["if me.pass(s) < 9 && Pause(me.pass(1)).await > 0 {", "*", "}"],
]
AWAITS = [
    ["s += yields(me.pass(1)).await;"],
    ["s += yields(me.pass(1)).await"],
    ["let v = Pause(me.pass(1)).await;", "s += me.pass(v);"],
    ["yields(me.pass(1)).await;", "s += me.pass(1);"],
    ["s = s + Pause(me.pass(1)).await + yields(me.pass(1)).await;"],
    ["s += text(me.pass(1)).await.len() as u32;"],
    ["s += yields(text(me.pass(1)).await.len() as u32).await;"],
    ["match fails(me.pass(s)).await {", "Ok(v) => s += me.pass(v),", "Err(_) => return me.pass(s),", "}"],
    ["s += yields(", "me.pass(1),", ")", ".await;"],
    ["let held = me.pass(String::new());", "s += yields(me.pass(1)).await + held.len() as u32;"],
    ["s += me.pass(1);", "Box::pin(yields(me.pass(1))).await;"],
]


def fill(lines, inner):
    """Lines with others in place of "*". What has no semicolon is the end of a block: "()" follows elsewhere."""
    ret = []
    for i, line in enumerate(lines):
        ret += [line] if line != "*" else inner
        if line == "*" and (i + 1 == len(lines) or lines[i + 1] != "}") and not ret[-1].endswith((";", "}")):
            ret[-1] += ";"
    return ret


class Shapes:
    """The program: as Program of generate_steps.py."""

    def __init__(self):
        self.lines = SHAPES_HEAD.splitlines()
        self.functions = []
        for loop, branch, awaits in self.pairs():
            self.write(fill(loop, fill(branch, awaits)))
        self.write_main()

    @staticmethod
    def pairs():
        """Each kind of one with each kind of another."""
        kinds = itertools.product(range(len(LOOPS)), range(len(BRANCHES)), range(len(AWAITS)))
        return [(LOOPS[i], BRANCHES[j], AWAITS[k]) for i, j, k in kinds if i == 1 or j == 0 or k == 0]

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    def write(self, body):
        function = Function(len(self.functions), "async")
        self.lines += ["", f"async fn f{function.number}(me: Me, x: u32) -> u32 {{"]
        function.first, depth = len(self.lines) + 1, 1
        for line in ["let mut s = me.pass(x);", "let mut list = me.pass(vec![1, 2]);", *body]:
            depth -= line.startswith((")", "}"))
            self.lines.append("    " * (depth + line.startswith(".")) + line)
            depth += line.endswith(("{", "("))
        self.lines += ["    me.pass(s)", "}"]
        function.last = len(self.lines) - 1
        self.functions.append(function)

    def write_main(self):
        self.lines += ["", '#[tokio::main(flavor = "current_thread")]', "async fn main() {"]
        for function in self.functions:
            self.lines.append(f"    Box::pin(f{function.number}(new(), 0)).await;")
        self.lines += ['    println!("{}", record::tell("generated"));', "    std::process::exit(0);", "}"]
