//! Functions that create a Context: executors, and others that poll something. Only its debug info
//! is read: see make_shapes.sh.
#![allow(dead_code)]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A future of its own kind, in which no other is.
pub struct Timer(u32);

impl Future for Timer {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(self.0);
        Poll::Pending
    }
}

pub struct Socket(u32);

impl Socket {
    fn poll_read(&mut self, _: &mut Context<'_>) -> Poll<u32> {
        black_box(self.0);
        Poll::Pending
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

async fn work() {
    black_box(1);
    std::future::pending::<()>().await;
}

#[inline(never)]
pub fn drives_coroutine() {
    let mut cx = Context::from_waker(Waker::noop());
    let mut task = Box::pin(work());
    let _ = task.as_mut().poll(&mut cx);
}

pub struct Queue {
    tasks: Vec<Task>,
}

#[inline(never)]
pub fn drives_queue(queue: &mut Queue) {
    let mut cx = Context::from_waker(Waker::noop());
    for task in &mut queue.tasks {
        let _ = task.as_mut().poll(&mut cx);
    }
}

/// It hands its caller what the task says, and is an executor for all that.
#[inline(never)]
pub fn steps_queue(queue: &mut Queue) -> Poll<()> {
    let mut cx = Context::from_waker(Waker::noop());
    queue.tasks[0].as_mut().poll(&mut cx)
}

#[inline(never)]
pub fn drives_any<F: Future + Unpin>(mut future: F) {
    let mut cx = Context::from_waker(Waker::noop());
    let _ = Pin::new(&mut future).poll(&mut cx);
}

pub trait Job {
    fn go_on(&mut self, cx: &mut Context<'_>);
}

impl Job for Task {
    fn go_on(&mut self, cx: &mut Context<'_>) {
        let _ = self.as_mut().poll(cx);
    }
}

/// Nothing tells what the job polls, and the timer is no proof that there is nothing else.
#[inline(never)]
pub fn drives_object(job: &mut dyn Job, timer: &mut Timer) {
    let mut cx = Context::from_waker(Waker::noop());
    job.go_on(&mut cx);
    let _ = Pin::new(timer).poll(&mut cx);
}

pub struct Raw {
    data: *mut u8,
    poll: fn(*mut u8, &mut Context<'_>) -> Poll<()>,
}

#[inline(never)]
pub fn drives_raw(raw: &Raw, timer: &mut Timer) {
    let mut cx = Context::from_waker(Waker::noop());
    let _ = (raw.poll)(raw.data, &mut cx);
    let _ = Pin::new(timer).poll(&mut cx);
}

/// Nothing that it has is a future.
#[inline(never)]
pub fn drives_unseen(socket: &mut Socket) {
    let mut cx = Context::from_waker(Waker::noop());
    let _ = socket.poll_read(&mut cx);
}

#[inline(never)]
pub fn drives_timer(mut timer: Timer) {
    let mut cx = Context::from_waker(Waker::noop());
    let _ = Pin::new(&mut timer).poll(&mut cx);
}

pub struct Adapter<S> {
    inner: S,
    waker: Waker,
}

impl<S> Adapter<S> {
    #[inline(never)]
    pub fn forwards<F>(&mut self, f: F) -> Poll<u32>
    where
        F: FnOnce(&mut Context<'_>, &mut S) -> Poll<u32>,
    {
        let mut cx = Context::from_waker(&self.waker);
        f(&mut cx, &mut self.inner)
    }
}

#[inline(never)]
pub fn received_in_option(given: Option<(u8, &mut Context<'_>)>) {
    if let Some((number, cx)) = given {
        black_box(number);
        black_box(cx);
    }
}

#[inline(never)]
pub fn captured(cx: &mut Context<'_>, socket: &mut Socket) -> u32 {
    let read = || match socket.poll_read(cx) {
        Poll::Ready(n) => n,
        Poll::Pending => 0,
    };
    black_box(read)()
}

/// Waits for what others send.
pub struct Channel<T> {
    items: Vec<T>,
}

impl<T> Channel<T> {
    #[inline(never)]
    fn receives(&self) -> usize {
        black_box(self.items.len())
    }
}

pub struct Layer<T> {
    inner: T,
}
type Layers<T> = Layer<Layer<Layer<Layer<Layer<T>>>>>;
pub struct Deep(Layers<Layers<Layers<Layers<Queue>>>>);
pub struct Numbers(Layers<Layers<Vec<u32>>>);

#[no_mangle]
pub fn channels(deep: &Channel<Deep>, queues: &Channel<Queue>, numbers: &Channel<Numbers>) {
    deep.receives();
    queues.receives();
    numbers.receives();
}

#[no_mangle]
pub extern "C" fn executors(queue: &mut Queue, adapter: &mut Adapter<Socket>, raw: &Raw) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut timer = Timer(1);
    drives_coroutine();
    drives_queue(queue);
    let _ = steps_queue(queue);
    drives_any(Timer(2));
    drives_object(&mut queue.tasks[0], &mut timer);
    drives_raw(raw, &mut timer);
    drives_unseen(&mut adapter.inner);
    drives_timer(timer);
    let _ = adapter.forwards(|cx, socket| socket.poll_read(cx));
    received_in_option(Some((3, &mut cx)));
    captured(&mut cx, &mut adapter.inner);
}
