//! Tasks that wait for what never comes: futures-util's `pending`.

use truth::{here, Task, Truth, Wait};

async fn wait() {
    here!("pending::wait");
    futures_util::future::pending::<()>().await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let ids = [tokio::spawn(wait()), tokio::spawn(wait())].map(|task| truth::id(&task));
    Truth::new("pending")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(ids.map(|id| Task::idle(id, &["pending::wait"]).waits(Wait::new("pending"))))
        .block_on(&["pending::main::{async_block#0}"])
        .publish();
    here!("pending::main::{async_block#0}");
    std::future::pending::<()>().await;
}
