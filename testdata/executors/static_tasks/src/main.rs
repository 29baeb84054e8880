//! Tasks that no executor lists: of a `StaticExecutor`, of an `Executor` that was leaked, and jobs
//! of the crate blocking, one of which waits for a thread's lock. An `Executor` that lists its own
//! is beside them.

use std::future::pending;
use std::sync::Mutex;
use std::thread;

use async_channel::Receiver;
use async_executor::{Executor, StaticExecutor};
use futures_lite::future;
use truth::{here, leak, Truth};

static STATIC: StaticExecutor = StaticExecutor::new();
static TAKEN: Mutex<()> = Mutex::new(());

/// A task that no waker and no list refers to would be dropped: these wait for messages.
async fn on_static(receiver: Receiver<u32>) {
    here!("static_tasks::on_static");
    let _ = receiver.recv().await;
}

async fn on_leaked(receiver: Receiver<u32>) {
    here!("static_tasks::on_leaked");
    let _ = receiver.recv().await;
}

async fn on_listed() {
    here!("static_tasks::on_listed");
    pending::<()>().await
}

fn work() {
    drop(TAKEN.lock());
}

async fn unblocks() {
    here!("static_tasks::unblocks");
    blocking::unblock(work).await
}

fn main() {
    leak(TAKEN.lock());
    let (sender, receiver) = async_channel::bounded(1);
    leak(sender);
    let leaked = Executor::new().leak();
    let listed: &'static Executor<'static> = leak(Executor::new());
    STATIC.spawn(on_static(receiver.clone())).detach();
    STATIC.spawn(on_static(receiver.clone())).detach();
    leaked.spawn(on_leaked(receiver)).detach();
    listed.spawn(on_listed()).detach();
    listed.spawn(unblocks()).detach();
    thread::spawn(|| future::block_on(STATIC.run(pending::<()>())));
    thread::spawn(move || future::block_on(leaked.run(pending::<()>())));
    thread::spawn(move || future::block_on(listed.run(pending::<()>())));
    Truth::new("static_tasks")
        .passes("static_tasks::on_static")
        .passes("static_tasks::on_leaked")
        .passes("static_tasks::on_listed")
        .passes("static_tasks::unblocks")
        .publish();
    loop {
        thread::park();
    }
}
