//! Tasks that wait for senders that are not where tasks have theirs.

use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use truth::{here, Wait, FOREVER};

use crate::{leak, spawn_hold, Tasks};

/// What many share, a sender among it.
struct State {
    sender: mpsc::Sender<u32>,
}

static STATE: Mutex<Option<Arc<State>>> = Mutex::new(None);
static SENDER: Mutex<Option<mpsc::Sender<u32>>> = Mutex::new(None);

async fn receive(mut receiver: mpsc::Receiver<u32>) {
    here!("contended::ends::receive");
    receiver.recv().await;
}

/// Has what others share too.
async fn receive_beside(state: Arc<State>, mut receiver: mpsc::Receiver<u32>) {
    here!("contended::ends::receive_beside");
    receiver.recv().await;
    assert!(!state.sender.is_closed());
}

/// Owns the only sender that counts, but another can make one.
async fn receive_weakly(sender: mpsc::Sender<u32>, mut receiver: mpsc::Receiver<u32>) {
    here!("contended::ends::receive_weakly");
    receiver.recv().await;
    drop(sender);
}

/// Owns the only sender, in what another can come to own as well.
async fn receive_upgradably(sender: Arc<mpsc::Sender<u32>>, mut receiver: mpsc::Receiver<u32>) {
    here!("contended::ends::receive_upgradably");
    receiver.recv().await;
    drop(sender);
}

static SENDERS: Mutex<Vec<mpsc::Sender<u32>>> = Mutex::new(Vec::new());

/// Put one sender where nobody looks, and dropped its own before it waits.
async fn drain(mut number: u32, started: std::sync::mpsc::Sender<()>) {
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    SENDERS.lock().expect("poisoned").push(sender.clone());
    drop(sender);
    let _ = started.send(());
    here!("contended::ends::drain");
    while let Some(received) = receiver.recv().await {
        number += received;
    }
    assert!(number > 0);
}

async fn answer_late(mut receiver: mpsc::Receiver<oneshot::Sender<u32>>) {
    here!("contended::ends::answer_late");
    sleep(FOREVER).await;
    while let Some(sender) = receiver.recv().await {
        let _ = sender.send(1);
    }
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

/// Keeps it in a thread of its own.
fn keep<T>(what: T) {
    loop {
        thread::park();
        truth::used!(what);
    }
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

    // In what many share, who receives too: another is in a static, in a task, in a thread.
    for place in 0..3 {
        let (sender, receiver) = mpsc::channel(1);
        let state = Arc::new(State { sender });
        let (other, name) = (state.clone(), "contended::ends::receive_beside");
        tasks.spawn(receive_beside(state, receiver), name, wait(1));
        match place {
            0 => *STATE.lock().expect("poisoned") = Some(other),
            1 => drop(spawn_hold(tasks, other)),
            _ => drop(thread::spawn(move || keep(other))),
        }
    }

    // Nowhere yet: it will be made of a weak one.
    let (sender, receiver) = mpsc::channel(1);
    spawn_hold(tasks, sender.downgrade());
    let name = "contended::ends::receive_weakly";
    let task = tasks.spawn(receive_weakly(sender, receiver), name, wait(1));
    tasks.graph.perhaps(&[task]);

    // Nowhere else yet: a Weak of what has it will be upgraded.
    let (sender, receiver) = mpsc::channel(1);
    let sender = Arc::new(sender);
    spawn_hold(tasks, Arc::downgrade(&sender));
    let name = "contended::ends::receive_upgradably";
    tasks.spawn(receive_upgradably(sender, receiver), name, wait(1));

    // In a static, and what is left of another in the task itself.
    let (started, when_started) = std::sync::mpsc::channel();
    let task = tasks.spawn(drain(0, started), "contended::ends::drain", wait(1));
    when_started.recv().expect("it is gone");
    tasks.graph.perhaps(&[task]);

    // In a message that nobody has received yet.
    let (sender, receiver) = oneshot::channel();
    let (requests, answers) = mpsc::channel(1);
    requests.try_send(sender).expect("the channel is full");
    let name = "contended::ends::answer_late";
    let answers = tasks.spawn(answer_late(answers), name, Wait::new("sleep"));
    let name = "contended::ends::receive_one";
    let receives = tasks.spawn(receive_one(receiver), name, Wait::new("oneshot"));
    tasks.graph.waits(receives, "oneshot", None, &[answers]);
    leak(requests);

    // On the stack of a thread that tokio does not know.
    let (sender, receiver) = oneshot::channel();
    let (open, gate) = std::sync::mpsc::channel();
    leak(open);
    thread::spawn(move || send_later(gate, sender));
    let name = "contended::ends::receive_one";
    tasks.spawn(receive_one(receiver), name, Wait::new("oneshot"));

    // One in a task that waits for the receiving one, another in one that does not.
    let (sender, receiver) = mpsc::channel(1);
    let sleeper = spawn_hold(tasks, sender.clone());
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
