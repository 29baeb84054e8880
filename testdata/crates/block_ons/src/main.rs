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

/// The debug info does not always tell where async-io and futures-lite keep their futures.
async fn unplaced(receiver: oneshot::Receiver<u32>) {
    here!("block_ons::unplaced");
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
    let mut receiver = || {
        let (sender, receiver) = oneshot::channel();
        senders.push(sender);
        receiver
    };
    by_futures(asks(receiver()));
    by_pollster(asks(receiver()));
    by_async_io(unplaced(receiver()));
    by_futures_lite(unplaced(receiver()));
    let alone = asks(receiver());
    std::thread::spawn(move || futures::executor::block_on(alone));
    let wait = || Wait::new("oneshot").with("sender_alive", true).with("polled", true);
    let chain = &["block_ons::asks", "block_ons::answer"];
    Truth::new("block_ons")
        .runtime(truth_tokio::current("multi_thread", 2))
        .block_on(&["block_ons::main::{async_block#0}"])
        .block_on_waits(chain, wait())
        .block_on_waits(chain, wait())
        .block_on_waits(chain, wait())
        .block_on(&["block_ons::unplaced", "block_ons::answer"])
        .block_on(&["block_ons::unplaced", "block_ons::answer"])
        .blocking_on("block_ons::by_futures::{closure#0}")
        .blocking_on("block_ons::by_pollster::{closure#0}")
        .blocking_on("block_ons::by_async_io::{closure#0}")
        .blocking_on("block_ons::by_futures_lite::{closure#0}")
        .publish();
    here!("block_ons::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(senders);
}
