//! Tasks that wait at the ends of the channels of `futures`, and for its locks, and futures of tasks
//! that its `AbortHandle`s can end.

mod aborts;
mod halves;
#[path = "../../tasks.rs"]
mod tasks;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::channel::{mpsc, oneshot};
use futures::lock::{Mutex, OwnedMutexGuard};
use futures::{SinkExt, Stream, StreamExt};
use tasks::{Held, Tasks};
use tokio::time::sleep;
use truth::graph::address;
use truth::{here, Wait, FOREVER};

const SENDER: Held = ("sender", "mpsc", "sender");
const RECEIVER: Held = ("receiver", "mpsc", "receiver");
const ONE_SENDER: Held = ("sender", "oneshot", "sender");
const ONE_RECEIVER: Held = ("receiver", "oneshot", "receiver");
const AWAITED: Held = ("receiver", "oneshot", "");
const GUARD: Held = ("lock", "mutex", "guard");

async fn keep<T>(sender: T) {
    here!("futures_ends::keep");
    sleep(FOREVER).await;
    drop(sender);
}

async fn keep_receiver<T>(receiver: T) {
    here!("futures_ends::keep_receiver");
    sleep(FOREVER).await;
    drop(receiver);
}

async fn next(mut receiver: mpsc::Receiver<u32>) {
    here!("futures_ends::next");
    receiver.next().await;
}

async fn next_unbounded(mut receiver: mpsc::UnboundedReceiver<u32>) {
    here!("futures_ends::next_unbounded");
    receiver.next().await;
}

/// Its message is in the channel, beyond the buffer.
async fn send(mut sender: mpsc::Sender<u32>) {
    here!("futures_ends::send");
    let _ = sender.send(1).await;
}

/// Its first message goes beyond the buffer, and the second one must wait.
async fn feed(mut sender: mpsc::Sender<u32>) {
    sender.feed(1).await.expect("the receiver is there");
    here!("futures_ends::feed");
    let _ = sender.feed(2).await;
}

/// Takes requests, and sends to who asked first, as soon as that one takes more.
struct Answers {
    requests: mpsc::UnboundedReceiver<u32>,
    senders: VecDeque<mpsc::Sender<u32>>,
}

impl Future for Answers {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut self.requests).poll_next(cx).is_ready() {
            return Poll::Ready(());
        }
        let first = self.senders.front_mut().expect("nobody asked");
        first.poll_ready(cx).map(drop)
    }
}

async fn answer(requests: mpsc::UnboundedReceiver<u32>, sender: mpsc::Sender<u32>) {
    let mut senders = VecDeque::from([sender]);
    senders[0].try_send(1).expect("there is room for one");
    here!("futures_ends::answer");
    Answers { requests, senders }.await;
}

async fn reply(receiver: oneshot::Receiver<u32>) {
    here!("futures_ends::reply");
    let _ = receiver.await;
}

async fn cancellation(mut sender: oneshot::Sender<u32>) {
    here!("futures_ends::cancellation");
    sender.cancellation().await;
}

/// Waits for an answer and has the channel on which the other side waits for one.
async fn call(receiver: oneshot::Receiver<u32>, sender: oneshot::Sender<u32>) {
    here!("futures_ends::call");
    let _ = receiver.await;
    drop(sender);
}

async fn lock(mutex: &'static Arc<Mutex<u32>>) {
    here!("futures_ends::lock");
    *mutex.lock().await += 1;
}

async fn lock_owned(mutex: &'static Arc<Mutex<u32>>) {
    here!("futures_ends::lock_owned");
    *mutex.clone().lock_owned().await += 1;
}

async fn hold(mutex: &'static Arc<Mutex<u32>>) {
    let guard = mutex.lock().await;
    here!("futures_ends::hold");
    sleep(FOREVER).await;
    drop(guard);
}

async fn hold_owned(guard: OwnedMutexGuard<u32>) {
    here!("futures_ends::hold_owned");
    sleep(FOREVER).await;
    drop(guard);
}

/// Holds the one and waits for the other.
async fn cross(guard: OwnedMutexGuard<u32>, other: &'static Arc<Mutex<u32>>) {
    here!("futures_ends::cross");
    *other.lock().await += 1;
    drop(guard);
}

fn mutex() -> &'static Arc<Mutex<u32>> {
    truth::leak(Arc::new(Mutex::new(0)))
}

fn for_mutex(mutex: &Arc<Mutex<u32>>) -> Wait {
    Wait::new("mutex").with("object", Arc::as_ptr(mutex)).with("polled", true)
}

fn mpsc_ends(tasks: &mut Tasks) {
    let recv = || Wait::new("mpsc_recv").with("queued", 0).with("closed", false);
    let (sender, receiver) = mpsc::channel(8);
    let one = tasks.sleeps(keep(sender.clone()), &["futures_ends::keep"], &[SENDER]);
    let two = tasks.sleeps(keep(sender), &["futures_ends::keep"], &[SENDER]);
    let wait = recv().with("senders", 2).with("capacity", 10);
    let who = tasks.waits(next(receiver), "futures_ends::next", wait, &[RECEIVER]);
    tasks.graph.waits(who, "mpsc_recv", None, &[one, two]);

    let (sender, receiver) = mpsc::unbounded();
    let one = tasks.sleeps(keep(sender), &["futures_ends::keep"], &[SENDER]);
    let name = "futures_ends::next_unbounded";
    let who = tasks.waits(next_unbounded(receiver), name, recv().with("senders", 1), &[RECEIVER]);
    tasks.graph.waits(who, "mpsc_recv", None, &[one]);

    // Without a buffer each sender has room for one message.
    let (sender, receiver) = mpsc::channel(0);
    let name = "futures_ends::keep_receiver";
    let one = tasks.sleeps(keep_receiver(receiver), &[name], &[RECEIVER]);
    let wait = || Wait::new("mpsc_send").with("queued", 2).with("capacity", 2).with("senders", 2);
    let who = tasks.waits(send(sender.clone()), "futures_ends::send", wait(), &[SENDER]);
    tasks.graph.waits(who, "mpsc_send", None, &[one]);
    let who = tasks.waits(feed(sender), "futures_ends::feed", wait(), &[SENDER]);
    tasks.graph.waits(who, "mpsc_send", None, &[one]);

    let (sender, receiver) = mpsc::channel(0);
    let one = tasks.sleeps(keep_receiver(receiver), &[name], &[RECEIVER]);
    let (asks, requests) = mpsc::unbounded();
    let two = tasks.sleeps(keep(asks), &["futures_ends::keep"], &[SENDER]);
    let name = "futures_ends::answer";
    let held = &[("receiver", "mpsc", "requests"), ("sender", "mpsc", "senders[0]")];
    let who = tasks.waits(answer(requests, sender), name, recv().with("senders", 1), held);
    tasks.beside(Wait::new("mpsc_send").with("queued", 1).with("capacity", 1).with("senders", 1));
    tasks.graph.waits(who, "mpsc_send", None, &[one]);
    tasks.graph.waits(who, "mpsc_recv", None, &[two]);
}

fn oneshot_ends(tasks: &mut Tasks) {
    let recv = || Wait::new("oneshot").with("sender_alive", true).with("polled", true);
    let (sender, receiver) = oneshot::channel();
    let one = tasks.sleeps(keep(sender), &["futures_ends::keep"], &[ONE_SENDER]);
    let who = tasks.waits(reply(receiver), "futures_ends::reply", recv(), &[AWAITED]);
    tasks.graph.waits(who, "oneshot", None, &[one]);

    let (sender, receiver) = oneshot::channel();
    let name = "futures_ends::keep_receiver";
    let one = tasks.sleeps(keep_receiver(receiver), &[name], &[ONE_RECEIVER]);
    let wait = Wait::new("oneshot_closed").with("receiver_alive", true).with("polled", true);
    let name = "futures_ends::cancellation";
    let who = tasks.waits(cancellation(sender), name, wait, &[ONE_SENDER]);
    tasks.graph.waits(who, "oneshot_closed", None, &[one]);

    let (to_one, from_two) = oneshot::channel();
    let (to_two, from_one) = oneshot::channel();
    let held = &[AWAITED, ONE_SENDER];
    let one = tasks.waits(call(from_two, to_two), "futures_ends::call", recv(), held);
    let two = tasks.waits(call(from_one, to_one), "futures_ends::call", recv(), held);
    tasks.graph.waits(one, "oneshot", None, &[two]);
    tasks.graph.waits(two, "oneshot", None, &[one]);
    tasks.graph.deadlock(&[one, two]);
}

async fn locks(tasks: &mut Tasks) {
    let busy = mutex();
    let holder = tasks.sleeps(hold(busy), &["futures_ends::hold"], &[GUARD]);
    while busy.try_lock().is_some() {
        tokio::task::yield_now().await;
    }
    for (name, own) in [("futures_ends::lock", false), ("futures_ends::lock_owned", true)] {
        let wait = for_mutex(busy);
        let who = match own {
            false => tasks.waits(lock(busy), name, wait, &[]),
            true => tasks.waits(lock_owned(busy), name, wait, &[]),
        };
        tasks.graph.waits(who, "mutex", address(&**busy), &[holder]);
    }

    let busy = mutex();
    let guard = busy.clone().lock_owned().await;
    let holder = tasks.sleeps(hold_owned(guard), &["futures_ends::hold_owned"], &[GUARD]);
    let who = tasks.waits(lock(busy), "futures_ends::lock", for_mutex(busy), &[]);
    tasks.graph.waits(who, "mutex", address(&**busy), &[holder]);

    let (x, y) = (mutex(), mutex());
    let (own_x, own_y) = (x.clone().lock_owned().await, y.clone().lock_owned().await);
    let one = tasks.waits(cross(own_x, y), "futures_ends::cross", for_mutex(y), &[GUARD]);
    let two = tasks.waits(cross(own_y, x), "futures_ends::cross", for_mutex(x), &[GUARD]);
    tasks.graph.waits(one, "mutex", address(&**y), &[two]);
    tasks.graph.waits(two, "mutex", address(&**x), &[one]);
    tasks.graph.deadlock(&[one, two]);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    mpsc_ends(&mut tasks);
    oneshot_ends(&mut tasks);
    locks(&mut tasks).await;
    halves::locks(&mut tasks).await;
    aborts::futures(&mut tasks).await;
    here!("futures_ends::main::{async_block#0}");
    tasks.publish("futures_ends").await;
}
