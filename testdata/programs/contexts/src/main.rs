//! Statics and thread-locals named CONTEXT that are not tokio's.

mod runtime;
mod session;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

pub static CONTEXT: AtomicUsize = AtomicUsize::new(7);

async fn touch_all(name: &'static str) -> usize {
    CONTEXT.fetch_add(1, Ordering::Relaxed);
    session::enter(name);
    runtime::context::set_handle(Some(3));
    here!("contexts::touch_all");
    sleep(FOREVER).await;
    session::length() + runtime::context::task_id() as usize
}

/// A thread inside crossbeam-channel, which keeps a thread-local CONTEXT of its own.
fn start_crossbeam_reader() {
    let (sender, receiver) = crossbeam_channel::bounded::<u32>(0);
    thread::spawn(move || {
        session::enter("reader");
        runtime::context::set_handle(None);
        let received = receiver.recv();
        drop(sender);
        received
    });
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    session::enter("main");
    runtime::context::set_handle(Some(1));
    start_crossbeam_reader();
    let first = tokio::spawn(touch_all("first"));
    let second = tokio::spawn(touch_all("second"));
    Truth::new("contexts")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(Task::idle(truth::id(&first), &["contexts::touch_all"]).sleeps())
        .task(Task::idle(truth::id(&second), &["contexts::touch_all"]).sleeps())
        .block_on(&["contexts::main::{async_block#0}"])
        .publish();
    here!("contexts::main::{async_block#0}");
    std::future::pending::<()>().await;
}
