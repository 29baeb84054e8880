//! Futures that poll what no rule says: for the unit tests of walks in runtimes/future. Linked with
//! futures.rs (make_shapes.sh), whose crate is named tokio.
#![allow(dead_code)]

extern crate tokio;

use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::sync::mpsc::bounded::Receiver as Queue;
use tokio::sync::oneshot::Receiver;

/// Polls a future of its own, and those of a collection.
pub struct Beside {
    pub own: Receiver,
    pub others: VecDeque<Receiver>,
}
/// Polls those of a collection.
pub struct Inside {
    pub others: VecDeque<Receiver>,
}
pub struct Wakers {
    pub list: VecDeque<Option<Waker>>,
}
pub struct Queues {
    pub list: VecDeque<Queue>,
}
pub struct Flags {
    pub list: Vec<Option<bool>>,
    pub own: Receiver,
}
pub struct Node {
    pub next: Option<Box<Node>>,
    pub others: VecDeque<Receiver>,
}
pub struct Chain {
    pub first: Node,
}

/// Polls a future of its own, and what it shares with others.
pub struct Sharing<T: ?Sized> {
    pub own: Receiver,
    pub shared: Arc<Mutex<T>>,
}
pub trait Source {
    fn is_empty(&self) -> bool;
}
impl Source for Beside {
    fn is_empty(&self) -> bool {
        self.others.is_empty()
    }
}
/// The same by way of an object.
pub struct Erased {
    pub own: Receiver,
    pub object: Arc<dyn Source>,
}

pub struct Layer<T> {
    pub inner: T,
}
type Stack<T> = Layer<Layer<Layer<Layer<Layer<T>>>>>;
/// As many references as no scan keeps.
pub struct References {
    pub list: [usize; 1100],
}

macro_rules! future {
    ($($type:ty),*) => {
        $(impl Future for $type {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                black_box(Poll::Pending)
            }
        })*
    };
}
future!(Beside, Inside, Wakers, Queues, Flags, Chain, References, Erased);

impl<T> Future for Sharing<T> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

/// The ninth of what the closure captures is a queue.
async fn captures(own: &mut Receiver, n: [u64; 8], queue: &mut Queue) {
    let [a, b, c, d, e, f, g, h] = n;
    poll_fn(move |cx| {
        black_box((&a, &b, &c, &d, &e, &f, &g, &h));
        black_box(queue.chan.recv().is_ready());
        Pin::new(&mut *own).poll(cx)
    })
    .await
}

pub struct Wrapped<F>(F);

impl<F: Future> Future for Wrapped<F> {
    type Output = F::Output;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        unsafe { self.map_unchecked_mut(|s| &mut s.0) }.poll(cx)
    }
}

fn wrapped<F: Future>(f: F) -> impl Future<Output = F::Output> {
    Wrapped(Wrapped(Wrapped(Wrapped(Wrapped(f)))))
}

/// Awaits a coroutine that is in ten structs.
async fn wraps(own: &mut Receiver) {
    wrapped(wrapped(receives(own))).await
}

/// The closure captures an object, and what is awaited.
async fn captures_object(own: &mut Receiver, object: Arc<dyn Source>) {
    poll_fn(move |cx| {
        black_box(object.is_empty());
        Pin::new(&mut *own).poll(cx)
    })
    .await
}

async fn receives(own: &mut Receiver) {
    own.await
}

/// Holds a future in 20 structs, and a collection of some.
async fn holds(own: &mut Receiver, stack: Stack<Stack<Stack<Stack<Inside>>>>, slots: Vec<Option<Inside>>) {
    own.await;
    black_box((&stack, &slots));
}

/// Awaits what refers to much of its memory.
async fn refers(list: [usize; 1100], held: Inside) {
    References { list }.await;
    black_box(&held);
}

fn poll<F: Future<Output = ()>>(mut future: F, cx: &mut Context<'_>) {
    black_box(unsafe { Pin::new_unchecked(&mut future) }.poll(cx).is_ready());
}

#[no_mangle]
pub fn walks(
    a: Beside,
    b: Inside,
    c: Wakers,
    d: Queues,
    e: Flags,
    f: Chain,
    stack: Stack<Stack<Stack<Stack<Inside>>>>,
    slots: Vec<Option<Inside>>,
    held: Inside,
    many: [Arc<Mutex<Vec<Option<Receiver>>>>; 1],
    flags: [Arc<Mutex<Vec<Option<bool>>>>; 1],
    source: Arc<Beside>,
    object: Arc<dyn Source>,
    captured: &mut Receiver,
    innermost: &mut Receiver,
    receivers: [Receiver; 5],
    slice: [Arc<Mutex<&'static [Receiver]>>; 1],
    own: &'static mut Receiver,
    queue: &mut Queue,
    cx: &mut Context<'_>,
) {
    poll(a, cx);
    poll(b, cx);
    poll(c, cx);
    poll(d, cx);
    poll(e, cx);
    poll(f, cx);
    let [first, second, third, fourth, fifth] = receivers;
    let ([many], [flags], [slice]) = (many, flags, slice);
    black_box(source.is_empty());
    poll(Erased { own: fourth, object: source }, cx);
    poll(Sharing { own: first, shared: many }, cx);
    poll(Sharing { own: fifth, shared: slice }, cx);
    poll(Sharing { own: second, shared: flags }, cx);
    poll(Sharing { own: third, shared: Arc::new(Mutex::new(receives(own))) }, cx);
    poll(holds(own, stack, slots), cx);
    poll(refers([cx as *mut _ as usize; 1100], held), cx);
    poll(wraps(innermost), cx);
    poll(captures_object(captured, object), cx);
    poll(captures(own, [0; 8], queue), cx);
}
