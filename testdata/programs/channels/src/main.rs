//! Tasks that wait at the ends of tokio's channels.

use std::convert::Infallible;
use std::future::Future;

use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::sleep;
use truth::{here, Task, Truth, Wait, FOREVER};

/// Keeps a channel's end from being dropped.
fn keep<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

struct Tasks(Vec<Task>);

impl Tasks {
    fn waits(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        wait: Wait,
    ) -> Option<u64> {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(Task::idle(id, &[name]).waits(wait));
        id
    }
}

async fn receive(mut receiver: mpsc::Receiver<String>) {
    here!("channels::receive");
    receiver.recv().await;
}

async fn receive_unbounded(mut receiver: mpsc::UnboundedReceiver<u64>) {
    here!("channels::receive_unbounded");
    receiver.recv().await;
}

fn receives(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(8);
    keep([sender.clone(), sender]);
    let wait = Wait::new("mpsc_recv").with("queued", 0).with("senders", 2).with("closed", false);
    let wait = wait.with("capacity", 8);
    tasks.waits(receive(receiver), "channels::receive", wait);

    let (sender, receiver) = mpsc::unbounded_channel();
    keep(sender);
    let wait = Wait::new("mpsc_recv").with("queued", 0).with("senders", 1).with("closed", false);
    tasks.waits(receive_unbounded(receiver), "channels::receive_unbounded", wait);
}

async fn send(sender: mpsc::Sender<u32>) {
    here!("channels::send");
    let _ = sender.send(7).await;
}

async fn reserve(sender: mpsc::Sender<u32>) {
    here!("channels::reserve");
    let _ = sender.reserve().await;
}

async fn reserve_owned(sender: mpsc::Sender<u32>) {
    here!("channels::reserve_owned");
    let _ = sender.reserve_owned().await;
}

/// A full channel whose receiver does something else.
fn sends(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(2);
    keep(receiver);
    for number in 0..2 {
        sender.try_send(number).expect("it is full already");
    }
    let wait = |ahead: &[Option<u64>]| {
        let wait = Wait::new("mpsc_send").with("position", ahead.len() as i32 + 1);
        let wait = wait.with("tasks_ahead", ahead.to_vec()).with("closed", false);
        wait.with("capacity", 2).with("queued", 2).with("senders", 3)
    };
    let first = tasks.waits(send(sender.clone()), "channels::send", wait(&[]));
    let second = tasks.waits(reserve(sender.clone()), "channels::reserve", wait(&[first]));
    let third = wait(&[first, second]);
    tasks.waits(reserve_owned(sender), "channels::reserve_owned", third);
}

async fn receive_number(mut receiver: mpsc::Receiver<u32>) {
    here!("channels::receive_number");
    receiver.recv().await;
}

/// A channel whose only place is reserved: both ends wait.
fn reservations(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(1);
    let sender = keep(sender);
    keep(sender.try_reserve().expect("it is empty"));
    let wait = Wait::new("mpsc_recv").with("queued", 0).with("senders", 2).with("capacity", 1);
    let receiver = tasks.waits(receive_number(receiver), "channels::receive_number", wait);
    let wait = Wait::new("mpsc_send").with("position", 1).with("queued", 0).with("capacity", 1);
    tasks.waits(send(sender.clone()), "channels::send", wait.with("task", receiver));
}

async fn until_receiver_drops(sender: mpsc::Sender<u32>) {
    here!("channels::until_receiver_drops");
    sender.closed().await;
}

async fn until_unbounded_drops(sender: mpsc::UnboundedSender<u32>) {
    here!("channels::until_unbounded_drops");
    sender.closed().await;
}

fn closes(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(3);
    keep(receiver);
    sender.try_send(1).expect("it is full already");
    let wait = Wait::new("mpsc_closed").with("closed", false).with("capacity", 3);
    let wait = wait.with("queued", 1).with("senders", 1);
    tasks.waits(until_receiver_drops(sender), "channels::until_receiver_drops", wait);

    let (sender, receiver) = mpsc::unbounded_channel();
    keep(receiver);
    sender.send(1).expect("it is closed already");
    sender.send(2).expect("it is closed already");
    let wait = Wait::new("mpsc_closed").with("closed", false).with("queued", 2);
    tasks.waits(until_unbounded_drops(sender), "channels::until_unbounded_drops", wait);
}

async fn reply(receiver: oneshot::Receiver<String>) {
    here!("channels::reply");
    let _ = receiver.await;
}

async fn reply_nothing(mut receiver: oneshot::Receiver<()>) {
    here!("channels::reply_nothing");
    let _ = (&mut receiver).await;
}

/// Ends when the sender is dropped.
async fn reply_never(receiver: oneshot::Receiver<Infallible>) {
    here!("channels::reply_never");
    let _ = receiver.await;
}

async fn until_nobody_listens(mut sender: oneshot::Sender<()>) {
    here!("channels::until_nobody_listens");
    sender.closed().await;
}

fn oneshots(tasks: &mut Tasks) {
    let (sender, receiver) = oneshot::channel();
    keep(sender);
    let wait = Wait::new("oneshot").with("sender_alive", true).with("value_there", false);
    tasks.waits(reply(receiver), "channels::reply", wait.clone());
    let (sender, receiver) = oneshot::channel();
    keep(sender);
    tasks.waits(reply_never(receiver), "channels::reply_never", wait.clone());

    // Each end of this one waits for the other; the sender's task comes first.
    let (sender, receiver) = oneshot::channel();
    let closed = Wait::new("oneshot_closed").with("receiver_alive", true);
    let sender = until_nobody_listens(sender);
    let sender = tasks.waits(sender, "channels::until_nobody_listens", closed);
    let wait = wait.with("task", sender);
    tasks.waits(reply_nothing(receiver), "channels::reply_nothing", wait);
}

async fn change(mut receiver: watch::Receiver<String>) {
    here!("channels::change");
    let _ = receiver.changed().await;
}

async fn until_unwatched(sender: watch::Sender<String>) {
    here!("channels::until_unwatched");
    sender.closed().await;
}

fn watches(tasks: &mut Tasks) {
    let (sender, mut receiver) = watch::channel(String::new());
    let other = keep(receiver.clone());
    for text in ["a", "b", "c"] {
        sender.send(text.to_string()).expect("nobody watches");
    }
    drop(receiver.borrow_and_update());
    let wait = Wait::new("watch").with("version", 3).with("version_seen", 3);
    let wait = wait.with("closed", false).with("receivers", 2);
    tasks.waits(change(receiver), "channels::change", wait);
    let wait = Wait::new("watch_closed").with("receivers", 2);
    tasks.waits(until_unwatched(sender), "channels::until_unwatched", wait);
    assert!(other.has_changed().expect("no sender"));
}

async fn hear(mut receiver: broadcast::Receiver<String>) {
    here!("channels::hear");
    let _ = receiver.recv().await;
}

fn broadcasts(tasks: &mut Tasks) {
    let (sender, receiver) = broadcast::channel(4);
    let late = sender.subscribe();
    sender.send("once".to_string()).expect("nobody hears");
    drop(late);
    drop(receiver);
    let receiver = sender.subscribe();
    keep(sender.subscribe());
    keep([sender.clone(), sender]);
    let wait = Wait::new("broadcast").with("lag", 0).with("senders", 2);
    let wait = wait.with("receivers", 2).with("capacity", 4).with("closed", false);
    tasks.waits(hear(receiver), "channels::hear", wait);
}

async fn stay() {
    here!("channels::stay");
    sleep(FOREVER).await;
}

// Tasks of a current_thread runtime are polled in the order in which they were spawned.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    tasks.0.push(Task::idle(truth::id(&tokio::spawn(stay())), &["channels::stay"]).sleeps());
    receives(&mut tasks);
    sends(&mut tasks);
    reservations(&mut tasks);
    closes(&mut tasks);
    oneshots(&mut tasks);
    watches(&mut tasks);
    broadcasts(&mut tasks);
    Truth::new("channels")
        .runtime(truth_tokio::current("current_thread", 1))
        .tasks(tasks.0)
        .block_on(&["channels::main::{async_block#0}"])
        .publish();
    here!("channels::main::{async_block#0}");
    std::future::pending::<()>().await;
}
