// The tasks of one version of the crate. `krate` is that version.

use futures_util::StreamExt;
use tokio::time::sleep;
use truth::{here, Wait, FOREVER};

use self::krate::{Receiver, Sender};
use crate::tasks::{Held, Tasks};

const SENDER: Held = ("sender", "broadcast", "sender");
const RECEIVER: Held = ("receiver", "broadcast", "receiver");
const STREAM: Held = ("receiver", "broadcast", "");
const OTHER: Held = ("sender", "broadcast", "other");

const KEEP: &str = concat!(module_path!(), "::keep");
const KEEP_RECEIVER: &str = concat!(module_path!(), "::keep_receiver");
const RECEIVE: &str = concat!(module_path!(), "::receive");
const NEXT: &str = concat!(module_path!(), "::next");
const SEND: &str = concat!(module_path!(), "::send");
const CALL: &str = concat!(module_path!(), "::call");

async fn keep(sender: Sender<u32>) {
    here!(KEEP);
    sleep(FOREVER).await;
    drop(sender);
}

async fn keep_receiver(receiver: Receiver<u32>) {
    here!(KEEP_RECEIVER);
    sleep(FOREVER).await;
    drop(receiver);
}

async fn receive(mut receiver: Receiver<u32>) {
    here!(RECEIVE);
    let _ = receiver.recv().await;
}

async fn next(mut receiver: Receiver<u32>) {
    here!(NEXT);
    receiver.next().await;
}

async fn send(sender: Sender<u32>) {
    here!(SEND);
    let _ = sender.broadcast(7).await;
}

/// Waits for an answer and has the channel on which the other side waits for one.
async fn call(mut receiver: Receiver<u32>, other: Sender<u32>) {
    here!(CALL);
    let _ = receiver.recv().await;
    drop(other);
}

pub fn spawn_all(tasks: &mut Tasks) {
    let recv = || Wait::new("broadcast").with("lag", 0).with("closed", false);

    let (sender, receiver) = krate::broadcast(4);
    let one = tasks.sleeps(keep(sender), &[KEEP], &[SENDER]);
    let wait = || recv().with("senders", 1).with("receivers", 2).with("capacity", 4);
    let who = tasks.waits(receive(receiver.clone()), RECEIVE, wait(), &[RECEIVER]);
    tasks.graph.waits(who, "broadcast", None, &[one]);
    let who = tasks.waits(next(receiver), NEXT, wait(), &[STREAM]);
    tasks.graph.waits(who, "broadcast", None, &[one]);

    // A full one.
    let (sender, receiver) = krate::broadcast(2);
    for number in 0..2 {
        sender.try_broadcast(number).expect("it is full already");
    }
    let one = tasks.sleeps(keep_receiver(receiver), &[KEEP_RECEIVER], &[RECEIVER]);
    let wait = Wait::new("broadcast_send").with("queued", 2).with("capacity", 2);
    let wait = wait.with("receivers", 1).with("senders", 1).with("closed", false);
    let who = tasks.waits(send(sender), SEND, wait, &[SENDER]);
    tasks.graph.waits(who, "broadcast_send", None, &[one]);

    // Two tasks that have each other's sender.
    let (to_one, from_two) = krate::broadcast(1);
    let (to_two, from_one) = krate::broadcast(1);
    let held = &[RECEIVER, OTHER];
    let one = tasks.waits(call(from_two, to_two), CALL, recv(), held);
    let two = tasks.waits(call(from_one, to_one), CALL, recv(), held);
    tasks.graph.waits(one, "broadcast", None, &[two]);
    tasks.graph.waits(two, "broadcast", None, &[one]);
    tasks.graph.deadlock(&[one, two]);
}
