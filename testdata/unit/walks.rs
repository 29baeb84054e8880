//! Futures that poll what no rule says: for the unit tests of walks in runtimes/future. Linked with
//! futures.rs (make_shapes.sh), whose crate is named tokio.
#![allow(dead_code)]

extern crate tokio;

use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::hint::black_box;
use std::pin::Pin;
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
future!(Beside, Inside, Wakers, Queues, Flags, Chain, References);

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
    own: &mut Receiver,
    queue: &mut Queue,
    cx: &mut Context<'_>,
) {
    poll(a, cx);
    poll(b, cx);
    poll(c, cx);
    poll(d, cx);
    poll(e, cx);
    poll(f, cx);
    poll(holds(own, stack, slots), cx);
    poll(refers([cx as *mut _ as usize; 1100], held), cx);
    poll(captures(own, [0; 8], queue), cx);
}
