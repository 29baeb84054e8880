//! Other ways into a futurelock: the lock not yet free, a set of futures, a channel.

use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::FutureExt;
use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::time::sleep;
use truth::graph::address;
use truth::tree::at;
use truth::{here, Task, Wait};

use crate::{for_mutex, lock, passed, spawn_hold, Lock, Tasks};

const SHORT: Duration = Duration::from_millis(20);

async fn add(lock: &'static Lock) {
    here!("futurelocks::queues::add");
    *lock.lock().await += 1;
}

/// Queues behind its own future while somebody else has the lock: when that one gives it up, the
/// future gets it and this still waits.
async fn queue_twice(lock: &'static Lock) {
    let mut first = Box::pin(add(lock));
    tokio::select! {
        _ = &mut first => {}
        _ = sleep(SHORT) => {
            here!("futurelocks::queues::queue_twice");
            *lock.lock().await += 1;
        }
    }
}

async fn not_yet_free(tasks: &mut Tasks) {
    let lock = lock();
    let holder = spawn_hold(tasks, lock).await;
    let tree = at("futurelocks::queues::queue_twice").held(at("futurelocks::queues::add"));
    let phrase = "mutex lock, 1 future ahead in its queue (of this task)";
    let wait = for_mutex(lock).with("phrase", phrase);
    let task = tasks.spawn_tree(queue_twice(lock), tree, Some(wait));
    tasks.graph.futurelock(task, address(lock), false);
    tasks.graph.waits(task, "mutex", address(lock), &[holder]);
}

async fn work(lock: &'static Lock) -> u32 {
    here!("futurelocks::queues::work");
    *lock.lock().await
}

/// Done as soon as the other work has queued.
async fn easy_work() -> u32 {
    passed("futurelocks::queues::work", 1).await;
    0
}

/// Locks in the body of a loop over a set of futures, which are not polled meanwhile.
async fn drain(lock: &'static Lock) {
    let mut set: FuturesUnordered<BoxFuture<'static, u32>> = FuturesUnordered::new();
    set.push(work(lock).boxed());
    set.push(easy_work().boxed());
    while let Some(number) = set.next().await {
        here!("futurelocks::queues::drain");
        *lock.lock().await += number;
    }
}

async fn until_drained(lock: &'static Lock, locked: std::sync::mpsc::Sender<()>) {
    let guard = lock.lock().await;
    let _ = locked.send(());
    passed("futurelocks::queues::drain", 1).await;
    drop(guard);
}

fn set(tasks: &mut Tasks) {
    let lock = lock();
    let (locked, when_locked) = std::sync::mpsc::channel();
    tokio::spawn(until_drained(lock, locked));
    when_locked.recv().expect("it does not lock");
    let tree = at("futurelocks::queues::drain").held(at("futurelocks::queues::work"));
    let task = tasks.spawn_tree(drain(lock), tree, Some(for_mutex(lock)));
    tasks.graph.futurelock(task, address(lock), true);
    tasks.graph.waits(task, "mutex", address(lock), &[task]);
}

/// Has a second message ready while the first still waits for room in the channel.
async fn forward(sender: Sender<u32>) {
    sender.send(0).await.expect("the receiver is gone");
    let mut first = Box::pin(sender.send(1));
    tokio::select! {
        _ = &mut first => {}
        _ = sleep(SHORT) => {
            here!("futurelocks::queues::forward");
            let _ = sender.send(2).await;
        }
    }
}

/// Makes room, which the first message gets, and waits for it.
async fn receive(mut receiver: Receiver<u32>) {
    passed("futurelocks::queues::forward", 1).await;
    assert_eq!(receiver.recv().await, Some(0));
    here!("futurelocks::queues::receive");
    receiver.recv().await;
}

fn messages(tasks: &mut Tasks) {
    let (sender, receiver) = channel(1);
    let wait = Wait::new("mpsc_send").with("capacity", 1);
    let (handle, sends) = Tasks::start(forward(sender));
    let task = Task::idle(truth::id(&handle), &["futurelocks::queues::forward"]);
    tasks.tasks.push(task.waits(wait));
    let tree = at("futurelocks::queues::receive");
    let wait = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let receives = tasks.spawn_tree(receive(receiver), tree, Some(wait));
    tasks.graph.futurelock(sends, None, true);
    tasks.graph.behind(receives);
    tasks.graph.waits(receives, "mpsc_recv", None, &[sends]);
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    not_yet_free(tasks).await;
    set(tasks);
    messages(tasks);
}
