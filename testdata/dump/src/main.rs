//! Tasks that fork in many ways, and their own traces of themselves: every branch that a poll comes
//! to, printed as a line `dump ID [[[function, file, line], ...], ...]`, root first.

mod tasks;
mod traced;

use std::fmt::Write;

use tokio::runtime::dump::{Backtrace, BacktraceSymbol};
use tokio::runtime::{Builder, Handle};
use tokio::task::yield_now;
use truth::{Runtime, Truth};

/// Nothing in a name or path needs escapes.
fn json(symbol: &BacktraceSymbol, into: &mut String) {
    let file = symbol.filename().map_or(String::new(), |file| file.display().to_string());
    let line = symbol.lineno().unwrap_or(0);
    let name = symbol.name_demangled().unwrap_or("");
    write!(into, "[\"{name}\",\"{file}\",{line}],").expect("a String takes all");
}

fn branch(trace: &Backtrace) -> String {
    let mut text = String::new();
    let frames: Vec<_> = trace.frames().collect();
    for frame in frames.into_iter().rev() {
        let symbols: Vec<_> = frame.symbols().collect();
        symbols.into_iter().rev().for_each(|symbol| json(symbol, &mut text));
    }
    format!("[{}]", text.trim_end_matches(','))
}

async fn dump(tasks: &[truth::Task]) {
    // One thread drives all of this: a task that passed its last await point is suspended.
    while tasks.iter().flat_map(truth::Task::visits).any(|(name, n)| truth::visits(name) < n) {
        yield_now().await;
    }
    traced::ask();
    while traced::count() < tasks.len() {
        yield_now().await;
    }
    for (id, trace) in traced::take() {
        let branches: Vec<_> = trace.resolve_backtraces().iter().map(branch).collect();
        truth::say(&format!("dump {} [{}]", id, branches.join(",")));
    }
}

async fn run() {
    let tasks = tasks::spawn_all();
    dump(&tasks).await;
    let metrics = Handle::current().metrics();
    Truth::new("dump")
        .runtime(Runtime {
            kind: "tokio",
            flavor: "current_thread",
            workers: Some(1),
            name: None,
            alive: Some(Box::new(move || metrics.num_alive_tasks())),
            queued: None,
        })
        .tasks(tasks)
        .block_on(&["dump::run"])
        .publish();
    truth::here!("dump::run");
    std::future::pending::<()>().await;
}

fn main() {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("cannot start a runtime").block_on(run());
}
