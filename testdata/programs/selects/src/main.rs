//! Futures that poll several others: select!, join! and try_join! of tokio and of futures, and
//! futures that a frame only holds.

mod arguments;
mod handed;
mod held;
mod join;
mod moved;
mod select;

use std::fmt::Debug;
use std::future::Future;

use tokio::time::sleep;
use truth::tree::Node;
use truth::{here, Task, Truth, FOREVER};

async fn nap() {
    here!("selects::nap");
    sleep(FOREVER).await;
}

async fn doze() -> Result<u32, ()> {
    here!("selects::doze");
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
    Truth::new("selects")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(select::spawn_all())
        .tasks(join::spawn_all())
        .tasks(handed::spawn_all())
        .tasks(held::spawn_all())
        .tasks(moved::spawn_all())
        .tasks(arguments::spawn_all())
        .block_on(&["selects::main::{async_block#0}"])
        .publish();
    here!("selects::main::{async_block#0}");
    std::future::pending::<()>().await;
}
