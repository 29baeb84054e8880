//! Three runtimes in one process: two multi_thread ones and a current_thread one.

use std::sync::mpsc;
use std::thread;

use tokio::runtime::Builder;
use tokio::time::sleep;
use truth::{here, Runtime, Task, Truth, FOREVER};

async fn in_first() {
    here!("runtimes::in_first");
    sleep(FOREVER).await;
}

async fn in_second(name: &str) -> usize {
    here!("runtimes::in_second");
    sleep(FOREVER).await;
    name.len()
}

async fn in_local() {
    here!("runtimes::in_local");
    sleep(FOREVER).await;
}

async fn local_root() {
    here!("runtimes::local_root");
    std::future::pending::<()>().await;
}

async fn first_root() {
    here!("runtimes::first_root");
    std::future::pending::<()>().await;
}

/// Starts a current_thread runtime in a thread of its own; returns its truth and a task's id.
fn start_local() -> (Runtime, Option<u64>) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut builder = Builder::new_current_thread();
        builder.enable_all();
        let name = truth_tokio::set_name(&mut builder, "local");
        let runtime = builder.build().expect("cannot start a runtime");
        let mut described = truth_tokio::describe(runtime.handle(), "current_thread", 1);
        described.name = name;
        let task = runtime.spawn(in_local());
        sender.send((described, truth::id(&task))).expect("main is gone");
        runtime.block_on(local_root());
    });
    receiver.recv().expect("the local runtime is gone")
}

fn main() {
    let first = truth_tokio::multi_thread(2);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(3).enable_all();
    let second_name = truth_tokio::set_name(&mut builder, "second");
    let second = builder.build().expect("cannot start a runtime");
    let (local, local_id) = start_local();

    let first_tasks: Vec<_> = (0..2).map(|_| first.spawn(in_first())).collect();
    let second_tasks: Vec<_> = (0..3).map(|_| second.spawn(in_second("second"))).collect();
    let mut described_second = truth_tokio::describe(second.handle(), "multi_thread", 3);
    described_second.name = second_name;

    let idle = |task: &tokio::task::JoinHandle<()>| {
        Task::idle(truth::id(task), &["runtimes::in_first"]).on(0).sleeps()
    };
    let idle_second = |task: &tokio::task::JoinHandle<usize>| {
        Task::idle(truth::id(task), &["runtimes::in_second"]).on(1).sleeps()
    };
    Truth::new("runtimes")
        .runtime(truth_tokio::describe(first.handle(), "multi_thread", 2))
        .runtime(described_second)
        .runtime(local)
        .tasks(first_tasks.iter().map(idle))
        .tasks(second_tasks.iter().map(idle_second))
        .task(Task::idle(local_id, &["runtimes::in_local"]).on(2).sleeps())
        .block_on(&["runtimes::first_root"])
        .block_on(&["runtimes::local_root"])
        .publish();
    first.block_on(first_root());
}
