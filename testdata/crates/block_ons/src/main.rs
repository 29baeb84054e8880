//! Threads, of the blocking pool and others, that drive a future by a `block_on` of another crate
//! than tokio.

use std::future::Future;

use futures::channel::oneshot;
use tokio::task::spawn_blocking;
use truth::{here, Truth, Wait};

async fn answer(receiver: oneshot::Receiver<u32>) {
    here!("block_ons::answer");
    let _ = receiver.await;
}

async fn asks(receiver: oneshot::Receiver<u32>) {
    here!("block_ons::asks");
    answer(receiver).await;
}

fn by_futures(future: impl Future<Output = ()> + Send + 'static) {
    drop(spawn_blocking(|| futures::executor::block_on(future)));
}

fn by_pollster(future: impl Future<Output = ()> + Send + 'static) {
    drop(spawn_blocking(|| pollster::block_on(future)));
}

fn by_async_io(future: impl Future<Output = ()> + Send + 'static) {
    drop(spawn_blocking(|| async_io::block_on(future)));
}

fn by_futures_lite(future: impl Future<Output = ()> + Send + 'static) {
    drop(spawn_blocking(|| futures_lite::future::block_on(future)));
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut senders = Vec::new();
    let mut future = || {
        let (sender, receiver) = oneshot::channel();
        senders.push(sender);
        asks(receiver)
    };
    by_futures(future());
    by_pollster(future());
    by_async_io(future());
    by_futures_lite(future());
    let alone = future();
    std::thread::spawn(move || futures::executor::block_on(alone));
    let wait = || Wait::new("oneshot").with("sender_alive", true).with("polled", true);
    let chain = &["block_ons::asks", "block_ons::answer"];
    Truth::new("block_ons")
        .runtime(truth_tokio::current("multi_thread", 2))
        .block_on(&["block_ons::main::{async_block#0}"])
        .block_on_waits(chain, wait())
        .block_on_waits(chain, wait())
        .block_on_waits(chain, wait())
        .block_on_waits(chain, wait())
        // The debug info does not always tell where async-io keeps its future.
        .block_on(chain)
        .blocking_on("block_ons::by_futures::{closure#0}")
        .blocking_on("block_ons::by_pollster::{closure#0}")
        .blocking_on("block_ons::by_async_io::{closure#0}")
        .blocking_on("block_ons::by_futures_lite::{closure#0}")
        .publish();
    here!("block_ons::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(senders);
}
