//! Jobs on the threads of the blocking pool, and tasks that await them.

use std::sync::mpsc;

use tokio::runtime::Handle;
use tokio::task::{spawn_blocking, JoinHandle};
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

/// Waits until `sender` is dropped.
fn start_job(sender: &mpsc::Sender<()>, gate: mpsc::Receiver<()>) -> JoinHandle<bool> {
    let sender = sender.clone();
    spawn_blocking(move || {
        let open = gate.recv().is_ok();
        drop(sender);
        open
    })
}

async fn bridge() {
    here!("blocking::bridge");
    sleep(FOREVER).await;
}

/// A job that drives a future itself.
fn start_bridge() -> JoinHandle<()> {
    spawn_blocking(|| Handle::current().block_on(bridge()))
}

async fn wait_for(job: JoinHandle<bool>) -> bool {
    here!("blocking::wait_for");
    job.await.unwrap_or(false)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let (done, _all_done) = mpsc::channel();
    let mut gates = Vec::new();
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let (sender, gate) = mpsc::channel();
        gates.push(sender);
        let job = start_job(&done, gate);
        let id = truth::id(&job);
        let waiter = tokio::spawn(wait_for(job));
        waiting.push(Task::idle(truth::id(&waiter), &["blocking::wait_for"]).joins(id));
    }
    let _bridge = start_bridge();
    Truth::new("blocking")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(waiting)
        .block_on(&["blocking::main::{async_block#0}"])
        .block_on(&["blocking::bridge"])
        .blocking("blocking::start_job::{closure#0}")
        .blocking("blocking::start_job::{closure#0}")
        .blocking_on("blocking::start_bridge::{closure#0}")
        .publish();
    here!("blocking::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(gates);
}
