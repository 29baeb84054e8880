//! What a section has spawned and how often that was polled.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll};

use truth::say;

#[derive(Default)]
pub struct Counts {
    /// Tasks, but no jobs of the blocking pool.
    pub spawned: u64,
    pub terminated: u64,
    /// Runs in which the runtime drops an aborted task in place of polling its future.
    pub cancels: u64,
    /// Jobs of the blocking pool, but no workers.
    pub blocking: u64,
    /// Workers of runtimes, each of which is a job of the blocking pool too.
    pub workers: u64,
    /// By the name of the task's async fn.
    polls: BTreeMap<&'static str, u64>,
    /// Of one section.
    more: Vec<(String, u64)>,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Counts>> {
    COUNTS.lock().expect("a thread panicked while it counted")
}

pub fn count(change: impl FnOnce(&mut Counts)) {
    change(lock().get_or_insert_with(Counts::default));
}

pub fn also(key: &str, value: u64) {
    count(|counts| counts.more.push((key.to_string(), value)));
}

/// How often the tasks of this name that have ended were polled.
pub fn polls(name: &str) -> u64 {
    lock().as_ref().and_then(|counts| counts.polls.get(name).copied()).unwrap_or(0)
}

/// Prints all of it and forgets it.
pub fn tell() {
    let counts = lock().take().unwrap_or_default();
    let polls: u64 = counts.polls.values().sum();
    let jobs = counts.blocking + counts.workers;
    let tell = |key: &str, value: u64| say(&format!("truth {} {}", key, value));

    tell("spawned", counts.spawned);
    tell("polls", polls);
    tell("terminated", counts.terminated);
    tell("cancels", counts.cancels);
    tell("blocking", counts.blocking);
    tell("workers", counts.workers);
    tell("calls.poll", polls + counts.cancels + jobs);
    tell("calls.complete", counts.terminated + jobs);
    for (name, polls) in &counts.polls {
        tell(&format!("polls.{}", name), *polls);
    }
    for (key, value) in &counts.more {
        tell(key, *value);
    }
}

/// A future that is polled exactly when the task is whose async fn awaits nothing else.
pub struct Counted<F> {
    name: &'static str,
    polls: u64,
    future: F,
}

/// `name`: of the async fn that awaits the result.
pub fn counted<F: Future>(name: &'static str, future: F) -> Counted<F> {
    Counted { name, polls: 0, future }
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: what is pinned is pinned in its place, and never moved.
        let this = unsafe { self.get_unchecked_mut() };
        this.polls += 1;
        unsafe { Pin::new_unchecked(&mut this.future) }.poll(context)
    }
}

/// A task drops its future when it ends, before who joins it knows; also when it panicked or was aborted.
impl<F> Drop for Counted<F> {
    fn drop(&mut self) {
        count(|counts| {
            *counts.polls.entry(self.name).or_default() += self.polls;
            counts.terminated += 1;
        });
    }
}
