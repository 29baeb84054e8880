//! Cycles through both ends of channels.

use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::sync::{oneshot, Barrier};
use truth::graph::address;
use truth::{declared, declares, here, Wait};

use crate::{for_mutex, leak, lock, Lock, Tasks};

/// Sends more than the other's mailbox takes, before it looks into its own.
async fn act(peer: Sender<u32>, mut mailbox: Receiver<u32>, all: &'static Barrier) {
    declared!("deadlocks::channels::act mailbox");
    peer.send(0).await.expect("the mailbox is gone");
    all.wait().await;
    here!("deadlocks::channels::act");
    peer.send(1).await.expect("the mailbox is gone");
    mailbox.recv().await;
}

/// Two that fill each other's mailbox, and one that fills its own.
fn mailboxes(tasks: &mut Tasks) {
    let full = || Wait::new("mpsc_send").with("capacity", 1);
    let name = "deadlocks::channels::act";
    let all = leak(Barrier::new(2));
    let ((to_first, first), (to_second, second)) = (channel(1), channel(1));
    let first = tasks.spawn(act(to_second, first, all), name, full());
    let second = tasks.spawn(act(to_first, second, all), name, full());
    tasks.graph.waits(first, "mpsc_send", None, &[second]);
    tasks.graph.waits(second, "mpsc_send", None, &[first]);
    tasks.graph.deadlock(&[first, second]);

    let (to_itself, own) = channel(1);
    let alone = tasks.spawn(act(to_itself, own, leak(Barrier::new(1))), name, full());
    tasks.graph.waits(alone, "mpsc_send", None, &[alone]);
    tasks.graph.deadlock(&[alone]);
}

/// Asks for an answer while it holds what is needed for one.
async fn ask(state: &'static Lock, ask: oneshot::Sender<oneshot::Sender<u32>>) {
    declares!("deadlocks::channels::ask held");
    let mut held = state.lock().await;
    let (sender, answer) = oneshot::channel();
    ask.send(sender).expect("nobody listens");
    here!("deadlocks::channels::ask");
    *held += answer.await.expect("no answer");
}

async fn answer(state: &'static Lock, asked: oneshot::Receiver<oneshot::Sender<u32>>) {
    let sender = asked.await.expect("no question");
    here!("deadlocks::channels::answer");
    let state = state.lock().await;
    let _ = sender.send(*state);
}

fn request(tasks: &mut Tasks) {
    let state = lock();
    let (question, asked) = oneshot::channel();
    let client = ask(state, question);
    let client = tasks.spawn(client, "deadlocks::channels::ask", Wait::new("oneshot"));
    let server = answer(state, asked);
    let server = tasks.spawn(server, "deadlocks::channels::answer", for_mutex(state));
    tasks.graph.waits(client, "oneshot", None, &[server]);
    tasks.graph.waits(server, "mutex", address(state), &[client]);
    tasks.graph.deadlock(&[client, server]);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    mailboxes(tasks);
    request(tasks);
}
