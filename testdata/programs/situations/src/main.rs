//! Whole situations that a server comes to, each of several tasks: calls of calls, an actor with its
//! mailbox, work that is fanned out, a pipeline that is full, a cache that is written to, a crawl with
//! few permits, a supervisor. Other programs have their parts one by one; here they lie in each other.

mod actor;
mod calls;
mod fan_out;
mod pipeline;
mod supervisor;

use std::future::Future;

use tokio::time::sleep;
use truth::tree::Node;
use truth::{here, Task, Truth, FOREVER};

/// Spawns a task, and says what its futures are.
fn spawn(future: impl Future<Output = ()> + Send + 'static, tree: Node) -> Task {
    Task::idle_tree(truth::id(&tokio::spawn(future)), tree)
}

/// Keeps it and sleeps.
async fn keep<T>(_kept: T) {
    here!("situations::keep");
    sleep(FOREVER).await;
}

/// Returns when this await point was passed so often, and a moment later: its future is polled.
async fn passed(name: &str, times: usize) {
    while truth::visits(name) < times {
        sleep(std::time::Duration::from_millis(1)).await;
    }
    sleep(std::time::Duration::from_millis(20)).await;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = calls::spawn_all();
    tasks.extend(actor::spawn_all());
    tasks.extend(fan_out::spawn_all());
    tasks.extend(pipeline::spawn_all().await);
    tasks.extend(supervisor::spawn_all());
    Truth::new("situations")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["situations::main::{async_block#0}"])
        .publish();
    here!("situations::main::{async_block#0}");
    std::future::pending::<()>().await;
}
