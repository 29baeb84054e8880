//! Halves of what is both a stream and a sink, or what reads and writes: each has locked the lock that they share
//! while it is polled. One blocks its thread then, and the other one waits for it.

use std::future::Future;
use std::io::Result;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::thread;

use futures::io::{ReadHalf, WriteHalf};
use futures::stream::{SplitSink, SplitStream};
use futures::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Sink, SinkExt, Stream, StreamExt,
};
use tokio::runtime::{Builder, Runtime};
use truth::graph::{address, Graph, Node};
use truth::{here, leak, quiet, Blocked, Task, Truth, Wait};

/// What a thread has that waits for good.
static TAKEN: Mutex<()> = Mutex::new(());
/// How many halves block their threads, or are about to do so.
static FLUSHES: AtomicUsize = AtomicUsize::new(0);

/// Nothing comes from it, and what goes to it stays there.
struct Both;

fn flush() {
    FLUSHES.fetch_add(1, SeqCst);
    drop(TAKEN.lock());
}

impl Stream for Both {
    type Item = u32;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u32>> {
        Poll::Pending
    }
}

impl Sink<u32> for Both {
    type Error = ();

    fn poll_ready(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::result::Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, _: u32) -> std::result::Result<(), ()> {
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::result::Result<(), ()>> {
        flush();
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::result::Result<(), ()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Both {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut [u8]) -> Poll<Result<usize>> {
        Poll::Pending
    }
}

impl AsyncWrite for Both {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        flush();
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn sends(mut half: SplitSink<Both, u32>) {
    here!("split_halves::sends");
    let _ = half.send(1).await;
}

async fn writes(mut half: WriteHalf<Both>) {
    here!("split_halves::writes");
    let _ = half.flush().await;
}

async fn receives(mut half: SplitStream<Both>) {
    here!("split_halves::receives");
    half.next().await;
}

async fn reads(mut half: ReadHalf<Both>) {
    let mut buf = [0];
    here!("split_halves::reads");
    let _ = half.read(&mut buf).await;
}

/// Where the lock of the halves is. A half is an Arc, the address of two counts before it.
fn lock_of<T>(half: &T) -> usize {
    assert_eq!(mem::size_of::<T>(), mem::size_of::<usize>());
    // SAFETY: it is as large as an address.
    let shared: usize = unsafe { mem::transmute_copy(half) };
    shared + 16
}

struct Tasks<'a> {
    runtime: &'a Runtime,
    holder: Node,
    tasks: Vec<Task>,
    blocked: Vec<Blocked>,
    graph: Graph,
}

impl Tasks<'_> {
    /// One blocks its thread with the lock, the other waits for that. The other one is spawned when the first one
    /// has its thread: before that, it could be left in what only this thread takes tasks from.
    fn spawn(
        &mut self,
        lock: usize,
        (blocks, name): (impl Future<Output = ()> + Send + 'static, &'static str),
        (waits, waiter): (impl Future<Output = ()> + Send + 'static, &'static str),
    ) {
        let before = FLUSHES.load(SeqCst);
        let blocks = truth::id(&self.runtime.spawn(blocks));
        while FLUSHES.load(SeqCst) == before {
            thread::yield_now();
        }
        let waits = truth::id(&self.runtime.spawn(waits));
        let wait = Wait::new("mutex").with("object", lock as *const u32).with("polled", true);
        self.tasks.push(Task::blocked(blocks, name));
        self.tasks.push(Task::idle(waits, &[waiter]).waits(wait));
        self.blocked.push(Blocked::new("std_mutex", blocks, address(&TAKEN)));
        let (blocks, waits) = (Node::task(blocks), Node::task(waits));
        self.graph.waits_for_stack(blocks, "std_mutex", address(&TAKEN), &[self.holder]);
        self.graph.waits_for_stack(waits, "mutex", Some(lock), &[blocks]);
    }
}

/// Keeps the guard on the stack.
#[inline(never)]
fn wait(guard: MutexGuard<'static, ()>) {
    loop {
        thread::park();
        std::hint::black_box(&guard);
    }
}

fn main() {
    let guard = TAKEN.lock().unwrap();
    let runtime: &'static Runtime =
        leak(Builder::new_multi_thread().worker_threads(3).build().unwrap());
    let holder = Node::thread(quiet::own_tid());
    let mut tasks =
        Tasks { runtime, holder, tasks: Vec::new(), blocked: Vec::new(), graph: Graph::new() };
    let (sink, stream) = StreamExt::split::<u32>(Both);
    let lock = lock_of(&stream);
    tasks.spawn(
        lock,
        (sends(sink), "split_halves::sends"),
        (receives(stream), "split_halves::receives"),
    );
    let (reader, writer) = AsyncReadExt::split(Both);
    let lock = lock_of(&writer);
    tasks.spawn(
        lock,
        (writes(writer), "split_halves::writes"),
        (reads(reader), "split_halves::reads"),
    );
    Truth::new("split_halves")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", 3))
        .tasks(tasks.tasks)
        .blocked(tasks.blocked)
        .graph(tasks.graph)
        .publish();
    wait(guard);
}
