//! Tasks that wait for others: in a `JoinSet`, and for jobs of a blocking pool that is full.

use std::sync::mpsc;

use tokio::runtime::Builder;
use tokio::task::{spawn_blocking, JoinHandle, JoinSet};
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn nap() {
    here!("tasksets::nap");
    sleep(FOREVER).await;
}

async fn short() {}

/// Three tasks that sleep and two that end; one of them is joined.
async fn join_some(report: mpsc::Sender<Vec<Option<u64>>>) {
    let mut set = JoinSet::new();
    let ids = (0..3).map(|_| truth::id(&set.spawn(nap()))).collect();
    for _ in 0..2 {
        set.spawn(short());
    }
    let mut joined = 0;
    while joined < 2 {
        set.join_next().await;
        joined += 1;
    }
    let _ = report.send(ids);
    here!("tasksets::join_some");
    set.join_next().await;
}

async fn wait_for(job: JoinHandle<bool>) -> bool {
    here!("tasksets::wait_for");
    job.await.unwrap_or(false)
}

fn start_job(gate: mpsc::Receiver<()>) -> JoinHandle<bool> {
    spawn_blocking(move || gate.recv().is_ok())
}

fn main() {
    // Its own threads do not count against the limit of one.
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .expect("cannot start a runtime");
    let _entered = runtime.enter();
    let (sender, receiver) = mpsc::channel();
    let joiner = tokio::spawn(join_some(sender));
    let mut waiting = Vec::new();
    let mut gates = Vec::new();
    for _ in 0..3 {
        let (open, gate) = mpsc::channel();
        gates.push(open);
        let job = start_job(gate);
        let id = truth::id(&job);
        let waiter = tokio::spawn(wait_for(job));
        waiting.push(Task::idle(truth::id(&waiter), &["tasksets::wait_for"]).joins(id));
    }
    let members = receiver.recv().expect("the joiner is gone");
    Truth::new("tasksets")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", 2))
        .tasks(members.into_iter().map(|id| Task::idle(id, &["tasksets::nap"]).sleeps()))
        .task(Task::idle(truth::id(&joiner), &["tasksets::join_some"]))
        .tasks(waiting)
        .blocking("tasksets::start_job::{closure#0}")
        .publish();
    loop {
        std::thread::park();
    }
}
