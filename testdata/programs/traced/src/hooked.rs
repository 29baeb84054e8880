//! Tasks that are counted by tokio's own hooks, each event with its time.
//!
//! Prints a line "hook EVENT ID NS" for each: spawn, start, end; the time is that of CLOCK_MONOTONIC.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, TaskMeta};
use tokio::task::yield_now;
use tokio::time::sleep;
use truth::say;

use crate::count::{also, count};

const WORKERS: usize = 2;
const TASKS: u64 = 8;

struct Hook {
    event: &'static str,
    id: String,
    at: Instant,
}

static HOOKS: Mutex<Vec<Hook>> = Mutex::new(Vec::new());

fn hooks() -> MutexGuard<'static, Vec<Hook>> {
    HOOKS.lock().expect("a thread panicked in a hook")
}

fn note(event: &'static str, meta: &TaskMeta<'_>) {
    hooks().push(Hook { event, id: meta.id().to_string(), at: Instant::now() });
}

/// An Instant shows the seconds and nanoseconds of its clock in its Debug text alone.
fn nanoseconds(at: Instant) -> u64 {
    let text = format!("{:?}", at);
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    let mut next = || numbers.next().and_then(|word| word.parse::<u64>().ok()).expect("another Instant");

    next() * 1_000_000_000 + next()
}

/// A task that is polled at once again, then sleeps, so that its worker parks, and spawns another one.
async fn worker(end: Instant) {
    while Instant::now() < end {
        yield_now().await;
        sleep(Duration::from_millis(2)).await;
        tokio::spawn(async {});
    }
}

fn parks(handle: &Handle) -> u64 {
    (0..WORKERS).map(|worker| handle.metrics().worker_park_count(worker)).sum()
}

pub fn hooked(milliseconds: u64) {
    count(|counts| counts.workers += WORKERS as u64);
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_time()
        .on_task_spawn(|meta| note("spawn", meta))
        .on_before_task_poll(|meta| note("start", meta))
        .on_after_task_poll(|meta| note("end", meta))
        .build()
        .expect("no runtime");
    let handle = runtime.handle().clone();
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let tasks: Vec<_> = (0..TASKS).map(|_| runtime.spawn(worker(end))).collect();

    runtime.block_on(async {
        for task in tasks {
            task.await.expect("a task failed");
        }
    });
    drop(runtime);
    also("parks", parks(&handle));
    for hook in hooks().drain(..) {
        say(&format!("hook {} {} {}", hook.event, hook.id, nanoseconds(hook.at)));
    }
}
