//! Sets of futures, streams of futures, and the combinators of the futures crate.

mod combinators;
mod held;
mod streams;
mod unordered;

use std::fmt::Debug;
use std::future::Future;

use tokio::time::sleep;
use truth::tree::Node;
use truth::{here, Task, Truth, FOREVER};

async fn nap() {
    here!("sets::nap");
    sleep(FOREVER).await;
}

async fn doze() -> Result<u32, ()> {
    here!("sets::doze");
    sleep(FOREVER).await;
    Err(())
}

async fn quick() -> Result<u32, ()> {
    Ok(1)
}

fn spawn<F>(future: F, tree: Node) -> Task
where
    F: Future + Send + 'static,
    F::Output: Debug + Send + 'static,
{
    Task::idle_tree(truth::id(&tokio::spawn(future)), tree)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    Truth::new("sets")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(unordered::spawn_all())
        .tasks(streams::spawn_all())
        .tasks(combinators::spawn_all())
        .tasks(held::spawn_all())
        .block_on(&["sets::main::{async_block#0}"])
        .publish();
    here!("sets::main::{async_block#0}");
    std::future::pending::<()>().await;
}
