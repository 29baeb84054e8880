//! Tasks that wait for senders that are not where tasks have theirs.

use std::sync::Mutex;
use std::thread;

use tokio::sync::{mpsc, oneshot};
use truth::{here, Wait};

use crate::{leak, Tasks};

static SENDER: Mutex<Option<mpsc::Sender<u32>>> = Mutex::new(None);

async fn receive(mut receiver: mpsc::Receiver<u32>) {
    here!("contended::ends::receive");
    receiver.recv().await;
}

async fn receive_one(receiver: oneshot::Receiver<u32>) {
    here!("contended::ends::receive_one");
    let _ = receiver.await;
}

/// Sleeps in a thread of its own until `gate` opens, and sends then.
fn send_later(gate: std::sync::mpsc::Receiver<()>, sender: oneshot::Sender<u32>) {
    let opened = gate.recv();
    let _ = sender.send(u32::from(opened.is_ok()));
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let wait = |senders: i32| Wait::new("mpsc_recv").with("senders", senders).with("queued", 0);

    // In a static.
    let (sender, receiver) = mpsc::channel(1);
    *SENDER.lock().expect("poisoned") = Some(sender);
    tasks.spawn(receive(receiver), "contended::ends::receive", wait(1));

    // Somewhere on the heap.
    let (sender, receiver) = mpsc::channel(1);
    leak(sender);
    tasks.spawn(receive(receiver), "contended::ends::receive", wait(1));

    // On the stack of a thread that tokio does not know.
    let (sender, receiver) = oneshot::channel();
    let (open, gate) = std::sync::mpsc::channel();
    leak(open);
    thread::spawn(move || send_later(gate, sender));
    let name = "contended::ends::receive_one";
    tasks.spawn(receive_one(receiver), name, Wait::new("oneshot"));

    // One in a task that waits for the receiving one, another in one that does not.
    let (sender, receiver) = mpsc::channel(1);
    let sleeper = tasks.hold(sender.clone());
    let (handle, receives) = Tasks::start(receive(receiver));
    let id = truth::id(&handle);
    tasks.tasks.push(truth::Task::idle(id, &["contended::ends::receive"]).waits(wait(2)));
    let task = join(handle, sender);
    let waits = Wait::new("join").with("task", id);
    let joins = tasks.spawn(task, "contended::ends::join", waits);
    tasks.graph.waits(receives, "mpsc_recv", None, &[joins, sleeper]);
    tasks.graph.waits(joins, "join", None, &[receives]);
}

async fn join(other: tokio::task::JoinHandle<()>, sender: mpsc::Sender<u32>) {
    here!("contended::ends::join");
    let _ = other.await;
    let _ = sender.send(1).await;
}
