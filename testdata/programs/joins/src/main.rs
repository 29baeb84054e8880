//! Tasks that await the JoinHandles of others: a chain of them, and two of the same kind.

use tokio::task::JoinHandle;
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn nap(number: u32) -> u32 {
    here!("joins::nap");
    sleep(FOREVER).await;
    number
}

async fn join(task: JoinHandle<u32>) -> u32 {
    here!("joins::join");
    task.await.unwrap_or(0)
}

async fn join_by_reference(mut task: JoinHandle<u32>) -> u32 {
    here!("joins::join_by_reference");
    (&mut task).await.unwrap_or(0)
}

async fn outer(task: JoinHandle<u32>) -> u32 {
    here!("joins::outer");
    join(task).await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let nap_1 = tokio::spawn(nap(1));
    let nap_2 = tokio::spawn(nap(2));
    let (id_1, id_2) = (truth::id(&nap_1), truth::id(&nap_2));
    let first = tokio::spawn(join(nap_1));
    let first_id = truth::id(&first);
    let second = tokio::spawn(outer(first));
    let second_id = truth::id(&second);
    let third = tokio::spawn(join_by_reference(second));
    let other = tokio::spawn(join(nap_2));
    Truth::new("joins")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks([id_1, id_2].map(|id| Task::idle(id, &["joins::nap"]).sleeps()))
        .task(Task::idle(first_id, &["joins::join"]).joins(id_1))
        .task(Task::idle(second_id, &["joins::outer", "joins::join"]).joins(first_id))
        .task(Task::idle(truth::id(&third), &["joins::join_by_reference"]).joins(second_id))
        .task(Task::idle(truth::id(&other), &["joins::join"]).joins(id_2))
        .block_on(&["joins::main::{async_block#0}"])
        .publish();
    here!("joins::main::{async_block#0}");
    std::future::pending::<()>().await;
}
