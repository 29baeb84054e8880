//! Tasks that nobody will ever wake.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch, Notify};
use truth::tree::{at, fresh};
use truth::{declared, here, Task, Wait};

use crate::Tasks;

/// Forgot to drop its own sender before it waits for all others to go.
async fn collect(sender: mpsc::Sender<u32>, mut receiver: mpsc::Receiver<u32>) {
    declared!("deadlocks::lost::collect sender");
    let mut total = 0;
    here!("deadlocks::lost::collect");
    while let Some(number) = receiver.recv().await {
        total += number;
    }
    drop(sender);
    assert_eq!(total, 0);
}

async fn produce(sender: mpsc::Sender<u32>) {
    let _ = sender.send(1).await;
}

/// Made the future that sends and forgot to spawn it.
async fn not_started(sender: mpsc::Sender<u32>, mut receiver: mpsc::Receiver<u32>) {
    let producer = produce(sender);
    here!("deadlocks::lost::not_started");
    receiver.recv().await;
    producer.await;
}

async fn answer_itself(sender: oneshot::Sender<u32>, receiver: oneshot::Receiver<u32>) {
    here!("deadlocks::lost::answer_itself");
    let received = receiver.await;
    assert!(sender.send(received.unwrap_or(0)).is_err());
}

async fn watch_itself(sender: watch::Sender<u32>, mut receiver: watch::Receiver<u32>) {
    here!("deadlocks::lost::watch_itself");
    let _ = receiver.changed().await;
    let _ = sender.send(1);
}

/// Waits for a sender that was never dropped and is nowhere.
async fn forgotten(receiver: oneshot::Receiver<u32>) {
    here!("deadlocks::lost::forgotten");
    let _ = receiver.await;
}

/// Nobody else knows what shall notify it.
async fn unnoticed(notify: Arc<Notify>) {
    here!("deadlocks::lost::unnoticed");
    notify.notified().await;
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(1);
    let wait = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let task = tasks.spawn(collect(sender, receiver), "deadlocks::lost::collect", wait);
    tasks.graph.waits(task, "mpsc_recv", None, &[task]);
    tasks.graph.lost(task, true);

    let (sender, receiver) = mpsc::channel(1);
    let future = not_started(sender, receiver);
    let wait = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let (handle, task) = Tasks::start(future);
    let tree = at("deadlocks::lost::not_started").held(fresh("deadlocks::lost::produce"));
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree).beside(wait));
    tasks.graph.waits(task, "mpsc_recv", None, &[task]);
    tasks.graph.lost(task, true);

    let (sender, receiver) = oneshot::channel();
    let answer = answer_itself(sender, receiver);
    let task = tasks.spawn(answer, "deadlocks::lost::answer_itself", Wait::new("oneshot"));
    tasks.graph.waits(task, "oneshot", None, &[task]);
    tasks.graph.lost(task, true);

    let (sender, receiver) = watch::channel(0);
    let watch = watch_itself(sender, receiver);
    let task = tasks.spawn(watch, "deadlocks::lost::watch_itself", Wait::new("watch"));
    tasks.graph.lost(task, false);

    let (sender, receiver) = oneshot::channel();
    std::mem::forget(sender);
    let future = forgotten(receiver);
    let task = tasks.spawn(future, "deadlocks::lost::forgotten", Wait::new("oneshot"));
    tasks.graph.waits(task, "oneshot", None, &[]);
    tasks.graph.lost(task, false);

    let future = unnoticed(Arc::new(Notify::new()));
    let task = tasks.spawn(future, "deadlocks::lost::unnoticed", Wait::new("notify"));
    tasks.graph.lost(task, false);
}
