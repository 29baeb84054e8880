//! Tasks that panicked, were aborted or completed, all with their JoinHandles kept, and live ones.
//! With an argument (abort, jump, overflow, panic, segv) a task ends the whole program in that way.

mod crash;

use std::panic;

use tokio::task::{yield_now, JoinHandle};
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn nap() -> u32 {
    here!("panicked::nap");
    sleep(FOREVER).await;
    1
}

async fn fail(divisor: u32) -> u32 {
    yield_now().await;
    100 / divisor
}

async fn complete() -> u32 {
    yield_now().await;
    2
}

async fn finished(task: &JoinHandle<u32>) {
    while !task.is_finished() {
        yield_now().await;
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    if let Some(how) = std::env::args().nth(1) {
        let _ = tokio::spawn(crash::run(how)).await;
        return;
    }
    panic::set_hook(Box::new(|_| {}));
    let live = [tokio::spawn(nap()), tokio::spawn(nap())];
    let panicked = tokio::spawn(fail(0));
    let completed = tokio::spawn(complete());
    let aborted = tokio::spawn(nap());
    while truth::visits("panicked::nap") < 3 {
        yield_now().await;
    }
    aborted.abort();
    let gone = [panicked, completed, aborted];
    for task in &gone {
        finished(task).await;
    }
    let mut truth = Truth::new("panicked")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(live.iter().map(|task| Task::idle(truth::id(task), &["panicked::nap"]).sleeps()))
        .block_on(&["panicked::main::{async_block#0}"]);
    for task in &gone {
        truth = truth.gone(truth::id(task));
    }
    truth.publish();
    here!("panicked::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop((live, gone));
}
