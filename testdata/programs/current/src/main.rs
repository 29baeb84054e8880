//! A current_thread runtime: its tasks and the future of main are all suspended.

use tokio::sync::oneshot;
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn nap() {
    here!("current::nap");
    sleep(FOREVER).await;
}

async fn twice() {
    here!("current::twice");
    nap().await;
}

async fn receive(receiver: oneshot::Receiver<u32>) -> u32 {
    here!("current::receive");
    receiver.await.unwrap_or(0)
}

async fn suspend() {
    here!("current::suspend");
    std::future::pending::<()>().await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (sender, receiver) = oneshot::channel();
    let nap = tokio::spawn(nap());
    let twice = tokio::spawn(twice());
    let receive = tokio::spawn(receive(receiver));
    Truth::new("current")
        .runtime(truth_tokio::current("current_thread", 1))
        .task(Task::idle(truth::id(&nap), &["current::nap"]).sleeps())
        .task(Task::idle(truth::id(&twice), &["current::twice", "current::nap"]).sleeps())
        .task(Task::idle(truth::id(&receive), &["current::receive"]))
        .block_on(&["current::main::{async_block#0}", "current::suspend"])
        .publish();
    here!("current::main::{async_block#0}");
    suspend().await;
    drop(sender);
}
