//! Cycles through what was moved from one variable to another of the same task.

use std::future::Future;

use tokio::sync::{mpsc, oneshot, Barrier};
use tokio::task::JoinHandle;
use truth::graph::address;
use truth::{here, Wait};

use crate::{for_mutex, leak, lock, Lock, Tasks};

/// Keeps the end that it was given in another variable.
async fn keep<T>(end: T, other: JoinHandle<()>) {
    let _kept = end;
    here!("deadlocks::moved::keep");
    let _ = other.await;
}

/// The same of a block, which has captured what it moves.
fn keep_captured<T: Send>(end: T, other: JoinHandle<()>) -> impl Future<Output = ()> + Send {
    async move {
        let _kept = end;
        here!("deadlocks::moved::keep_captured::{async_block#0}");
        let _ = other.await;
    }
}

async fn answered(receiver: oneshot::Receiver<u32>) {
    here!("deadlocks::moved::answered");
    let _ = receiver.await;
}

async fn received(mut receiver: mpsc::Receiver<u32>) {
    here!("deadlocks::moved::received");
    let _ = receiver.recv().await;
}

async fn sent(sender: mpsc::Sender<u32>) {
    let _ = sender.send(1).await;
    here!("deadlocks::moved::sent");
    let _ = sender.send(2).await;
}

fn ends(tasks: &mut Tasks) {
    let (sender, receiver) = oneshot::channel();
    let (handle, first) = Tasks::start(answered(receiver));
    tasks.describe(&handle, "deadlocks::moved::answered", Wait::new("oneshot"));
    let wait = Wait::new("join").with("task", truth::id(&handle));
    let second = tasks.spawn(keep(sender, handle), "deadlocks::moved::keep", wait);
    tasks.graph.waits(first, "oneshot", None, &[second]);
    tasks.graph.waits(second, "join", None, &[first]);
    tasks.graph.deadlock(&[first, second]);

    let (sender, receiver) = oneshot::channel();
    let (handle, first) = Tasks::start(answered(receiver));
    tasks.describe(&handle, "deadlocks::moved::answered", Wait::new("oneshot"));
    let wait = Wait::new("join").with("task", truth::id(&handle));
    let name = "deadlocks::moved::keep_captured::{async_block#0}";
    let second = tasks.spawn(keep_captured(sender, handle), name, wait);
    tasks.graph.waits(first, "oneshot", None, &[second]);
    tasks.graph.waits(second, "join", None, &[first]);
    tasks.graph.deadlock(&[first, second]);

    // Two senders, one of them in two places.
    let (sender, receiver) = mpsc::channel(1);
    let (handle, first) = Tasks::start(received(receiver));
    let wait = Wait::new("mpsc_recv").with("senders", 2).with("queued", 0);
    tasks.describe(&handle, "deadlocks::moved::received", wait);
    let wait = Wait::new("join").with("task", truth::id(&handle));
    let second = keep((sender.clone(), sender), handle);
    let second = tasks.spawn(second, "deadlocks::moved::keep", wait);
    tasks.graph.waits(first, "mpsc_recv", None, &[second]);
    tasks.graph.waits(second, "join", None, &[first]);
    tasks.graph.deadlock(&[first, second]);

    let (sender, receiver) = mpsc::channel(1);
    let (handle, first) = Tasks::start(sent(sender));
    let wait = Wait::new("mpsc_send").with("capacity", 1);
    tasks.describe(&handle, "deadlocks::moved::sent", wait);
    let wait = Wait::new("join").with("task", truth::id(&handle));
    let second = tasks.spawn(keep(receiver, handle), "deadlocks::moved::keep", wait);
    tasks.graph.waits(first, "mpsc_send", None, &[second]);
    tasks.graph.waits(second, "join", None, &[first]);
    tasks.graph.deadlock(&[first, second]);
}

/// Keeps the guard in another variable.
async fn lock_moved(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let guard = own.lock().await;
    all.wait().await;
    let mut kept = guard;
    here!("deadlocks::moved::lock_moved");
    let wanted = other.lock().await;
    *kept += *wanted;
}

fn guards(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
    let name = "deadlocks::moved::lock_moved";
    let first = tasks.spawn(lock_moved(a, b, all), name, for_mutex(b));
    let second = tasks.spawn(lock_moved(b, a, all), name, for_mutex(a));
    tasks.graph.waits(first, "mutex", address(b), &[second]);
    tasks.graph.waits(second, "mutex", address(a), &[first]);
    tasks.graph.deadlock(&[first, second]);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    ends(tasks);
    guards(tasks);
}
