//! Channels and timers as streams: what the others wrap.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::io::AsyncBufReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{broadcast, mpsc};
use tokio::time::interval;
use tokio_stream::wrappers::{
    BroadcastStream, IntervalStream, LinesStream, ReceiverStream, TcpListenerStream,
    UnboundedReceiverStream,
};
use truth::{Task, Wait, FOREVER};

use crate::drained;

/// Keeps a channel's end from being dropped.
pub(crate) fn keep<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// An empty channel, which its capacity distinguishes from all others.
pub(crate) fn channel() -> (mpsc::Receiver<u32>, Wait) {
    static CAPACITY: AtomicI32 = AtomicI32::new(100);
    let capacity = CAPACITY.fetch_add(1, Ordering::SeqCst);
    let (sender, receiver) = mpsc::channel(capacity as usize);
    keep(sender);
    let wait = Wait::new("mpsc_recv").with("capacity", capacity).with("queued", 0);
    (receiver, wait.with("senders", 1).with("closed", false))
}

pub(crate) type Source = ReceiverStream<u32>;

pub(crate) fn source() -> (Source, Wait) {
    let (receiver, wait) = channel();
    (ReceiverStream::new(receiver), wait)
}

/// A channel with so many messages in it.
pub(crate) fn filled(messages: i32) -> (Source, Wait) {
    let (sender, receiver) = mpsc::channel(50);
    for _ in 0..messages {
        sender.try_send(1).expect("there is room");
    }
    keep(sender);
    let wait = Wait::new("mpsc_recv").with("capacity", 50).with("queued", messages);
    (ReceiverStream::new(receiver), wait)
}

fn broadcasts() -> Vec<Task> {
    let wait = || Wait::new("broadcast").with("lag", 0).with("senders", 1).with("capacity", 16);
    let (sender, receiver) = broadcast::channel::<u32>(16);
    let (other_sender, other) = broadcast::channel::<u32>(16);
    keep([sender, other_sender]);
    vec![
        drained(BroadcastStream::new(receiver), wait().with("receivers", 1)),
        drained(BroadcastStream::new(other).map(|item| item.ok()), wait().with("receivers", 1)),
    ]
}

pub(crate) async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port is free")
}

/// Both ends of a connection.
pub(crate) async fn pair() -> (TcpStream, TcpStream) {
    let listener = listener().await;
    let address = listener.local_addr().expect("it is bound");
    let client = TcpStream::connect(address).await.expect("it listens");
    (client, listener.accept().await.expect("it has connected").0)
}

async fn sockets() -> Vec<Task> {
    let wait = |resource| Wait::new("io").with("resource", resource).with("direction", "readable");
    let (ours, theirs) = pair().await;
    keep(theirs);
    let lines = LinesStream::new(tokio::io::BufReader::new(ours).lines());
    vec![
        drained(TcpListenerStream::new(listener().await), wait("TcpListener")),
        drained(lines, wait("TcpStream")),
    ]
}

pub(crate) async fn spawn_all() -> Vec<Task> {
    let (plain, wait) = source();
    let mut tasks = vec![drained(plain, wait)];
    let (sender, receiver) = mpsc::unbounded_channel::<u64>();
    keep(sender);
    let wait = Wait::new("mpsc_recv").with("queued", 0).with("senders", 1);
    tasks.push(drained(UnboundedReceiverStream::new(receiver), wait));
    let timer = IntervalStream::new(interval(FOREVER));
    tasks.push(drained(timer, Wait::new("interval").with("period_ns", period())));
    tasks.extend(broadcasts());
    tasks.extend(sockets().await);
    tasks
}

fn period() -> i64 {
    let period: Duration = FOREVER;
    period.as_nanos() as i64
}
