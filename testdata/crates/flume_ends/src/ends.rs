// The tasks of one version of the crate. `krate` is that version.

use tokio::time::sleep;
use truth::{here, Wait, FOREVER};

use self::krate::{Receiver, Sender};
use crate::tasks::{Held, Tasks};

const SENDER: Held = ("sender", "channel", "sender");
const OTHER: Held = ("sender", "channel", "other");
const RECEIVER: Held = ("receiver", "channel", "receiver");
const OWN_SENDER: Held = ("sender", "channel", "sender.0");
const OWN_RECEIVER: Held = ("receiver", "channel", "receiver.0");

const HOLD_SENDER: &str = concat!(module_path!(), "::hold_sender");
const HOLD_RECEIVER: &str = concat!(module_path!(), "::hold_receiver");
const RECEIVE: &str = concat!(module_path!(), "::receive");
const RECEIVE_OWNED: &str = concat!(module_path!(), "::receive_owned");
const NEXT: &str = concat!(module_path!(), "::next");
const SEND: &str = concat!(module_path!(), "::send");
const SEND_OWNED: &str = concat!(module_path!(), "::send_owned");
const CALL: &str = concat!(module_path!(), "::call");

async fn hold_sender(sender: Sender<u32>) {
    here!(HOLD_SENDER);
    sleep(FOREVER).await;
    drop(sender);
}

async fn hold_receiver(receiver: Receiver<u32>) {
    here!(HOLD_RECEIVER);
    sleep(FOREVER).await;
    drop(receiver);
}

async fn receive(receiver: Receiver<u32>) {
    here!(RECEIVE);
    let _ = receiver.recv_async().await;
}

async fn receive_owned(receiver: Receiver<u32>) {
    here!(RECEIVE_OWNED);
    let _ = receiver.into_recv_async().await;
}

async fn next(receiver: Receiver<u32>) {
    let mut stream = receiver.stream();
    here!(NEXT);
    futures_util::StreamExt::next(&mut stream).await;
}

async fn send(sender: Sender<u32>) {
    here!(SEND);
    let _ = sender.send_async(7).await;
}

async fn send_owned(sender: Sender<u32>) {
    here!(SEND_OWNED);
    let _ = sender.into_send_async(7).await;
}

/// Waits for an answer and has the channel on which the other side waits for one.
async fn call(receiver: Receiver<u32>, other: Sender<u32>) {
    here!(CALL);
    let _ = receiver.recv_async().await;
    drop(other);
}

pub fn spawn_all(tasks: &mut Tasks) {
    let recv = || Wait::new("channel_recv").with("closed", false).with("queued", 0);
    let send_to = || Wait::new("channel_send").with("closed", false);

    // An unbounded channel with two senders in one task each.
    let (sender, receiver) = krate::unbounded();
    let one = tasks.sleeps(hold_sender(sender.clone()), &[HOLD_SENDER], &[SENDER]);
    let two = tasks.sleeps(hold_sender(sender), &[HOLD_SENDER], &[SENDER]);
    let wait = recv().with("senders", 2).with("receivers", 1);
    let who = tasks.waits(receive(receiver), RECEIVE, wait, &[RECEIVER]);
    tasks.graph.waits(who, "channel_recv", None, &[one, two]);

    // A bounded one with three receivers.
    let (sender, receiver) = krate::bounded(4);
    let one = tasks.sleeps(hold_sender(sender), &[HOLD_SENDER], &[SENDER]);
    let wait = || recv().with("senders", 1).with("receivers", 3).with("capacity", 4);
    let who = tasks.waits(receive(receiver.clone()), RECEIVE, wait(), &[RECEIVER]);
    tasks.graph.waits(who, "channel_recv", None, &[one]);
    let who = tasks.waits(receive_owned(receiver.clone()), RECEIVE_OWNED, wait(), &[OWN_RECEIVER]);
    tasks.graph.waits(who, "channel_recv", None, &[one]);
    let who = tasks.waits(next(receiver), NEXT, wait(), &[RECEIVER]);
    tasks.graph.waits(who, "channel_recv", None, &[one]);

    // A full one.
    let (sender, receiver) = krate::bounded(2);
    for number in 0..2 {
        sender.try_send(number).expect("it is full already");
    }
    let one = tasks.sleeps(hold_receiver(receiver), &[HOLD_RECEIVER], &[RECEIVER]);
    let wait = || send_to().with("queued", 2).with("capacity", 2).with("receivers", 1);
    let who = tasks.waits(send(sender.clone()), SEND, wait().with("senders", 2), &[SENDER]);
    tasks.graph.waits(who, "channel_send", None, &[one]);
    let who = tasks.waits(send_owned(sender), SEND_OWNED, wait().with("senders", 2), &[OWN_SENDER]);
    tasks.graph.waits(who, "channel_send", None, &[one]);

    // One without room, and with a receiver that nobody uses.
    let (sender, receiver) = krate::bounded(0);
    let one = tasks.sleeps(hold_receiver(receiver), &[HOLD_RECEIVER], &[RECEIVER]);
    let who =
        tasks.waits(send(sender), SEND, send_to().with("queued", 0).with("capacity", 0), &[SENDER]);
    tasks.graph.waits(who, "channel_send", None, &[one]);

    // Two tasks that have each other's sender.
    let (to_one, from_two) = krate::unbounded();
    let (to_two, from_one) = krate::bounded(1);
    let wait = || recv().with("senders", 1);
    let one = tasks.waits(call(from_two, to_two), CALL, wait(), &[RECEIVER, OTHER]);
    let two = tasks.waits(call(from_one, to_one), CALL, wait(), &[RECEIVER, OTHER]);
    tasks.graph.waits(one, "channel_recv", None, &[two]);
    tasks.graph.waits(two, "channel_recv", None, &[one]);
    tasks.graph.deadlock(&[one, two]);
}
