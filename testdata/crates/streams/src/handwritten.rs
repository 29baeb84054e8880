//! Streams that the program implements by hand.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, StreamExt};
use tokio::sync::mpsc;
use truth::tree::at;
use truth::{here, Task};

use crate::objects::Boxed;
use crate::sources::{channel, source, Source};
use crate::{drained, drained_tree};

/// Takes from the first of its streams that has something.
struct Fan {
    inputs: Vec<Boxed>,
    ready: VecDeque<u32>,
}

impl Stream for Fan {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        if let Some(item) = self.ready.pop_front() {
            return Poll::Ready(Some(item));
        }
        for input in &mut self.inputs {
            if let Poll::Ready(Some(item)) = input.as_mut().poll_next(context) {
                return Poll::Ready(Some(item));
            }
        }
        Poll::Pending
    }
}

/// Counts what goes through.
struct Counted<S> {
    inner: S,
    number: u64,
}

impl<S: Stream + Unpin> Stream for Counted<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let item = self.inner.poll_next_unpin(context);
        self.number += item.is_ready() as u64;
        item
    }
}

/// Makes its items by futures, one after another.
struct Pages {
    next: Option<BoxFuture<'static, u32>>,
    page: u32,
}

impl Stream for Pages {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        let Some(next) = self.next.as_mut() else { return Poll::Ready(None) };
        match next.poll_unpin(context) {
            Poll::Ready(number) => {
                self.page += 1;
                Poll::Ready(Some(number))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Reads a channel itself.
struct Numbers(mpsc::Receiver<u32>);

impl Stream for Numbers {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        self.0.poll_recv(context)
    }
}

/// A future that polls a stream.
struct Last<S> {
    stream: S,
    last: Option<u32>,
}

impl<S: Stream<Item = u32> + Unpin> Future for Last<S> {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        loop {
            match self.stream.poll_next_unpin(context) {
                Poll::Ready(Some(item)) => self.last = Some(item),
                Poll::Ready(None) => return Poll::Ready(self.last),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// The same with a trait object.
struct LastBoxed {
    stream: Boxed,
    last: Option<u32>,
}

impl Future for LastBoxed {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        loop {
            match self.stream.poll_next_unpin(context) {
                Poll::Ready(Some(item)) => self.last = Some(item),
                Poll::Ready(None) => return Poll::Ready(self.last),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// One of two kinds.
enum Either {
    Channel(Source),
    Object(Boxed),
}

impl Stream for Either {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<u32>> {
        match &mut *self {
            Either::Channel(stream) => stream.poll_next_unpin(context),
            Either::Object(stream) => stream.poll_next_unpin(context),
        }
    }
}

async fn fetch(mut receiver: mpsc::Receiver<u32>) -> u32 {
    here!("streams::handwritten::fetch");
    receiver.recv().await.unwrap_or(0)
}

async fn last(stream: Source) {
    here!("streams::handwritten::last");
    Last { stream, last: None }.await;
}

async fn last_boxed(stream: Source) {
    let stream = stream.boxed();
    here!("streams::handwritten::last_boxed");
    LastBoxed { stream, last: None }.await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = Vec::new();
    for boxed in [false, true] {
        let (first, wait) = source();
        let (second, other) = source();
        let fan = Fan { inputs: vec![first.boxed(), second.boxed()], ready: VecDeque::new() };
        tasks.push(
            match boxed {
                false => drained(fan, wait),
                true => drained(fan.boxed(), wait),
            }
            .beside(other)
            .leaves(2),
        );
    }
    let (stream, wait) = source();
    tasks.push(drained(Counted { inner: stream, number: 0 }, wait));
    let (stream, wait) = source();
    tasks.push(drained(Counted { inner: stream.boxed(), number: 0 }, wait));
    let (stream, wait) = source();
    tasks.push(drained(Counted { inner: stream.boxed(), number: 0 }.boxed(), wait));
    for boxed in [false, true] {
        let (receiver, wait) = channel();
        let pages = Pages { next: Some(fetch(receiver).boxed()), page: 0 };
        let below = at("streams::handwritten::fetch");
        tasks.push(match boxed {
            false => drained_tree(pages, below, wait),
            true => drained_tree(pages.boxed(), below, wait),
        });
    }
    let (receiver, wait) = channel();
    tasks.push(drained(Numbers(receiver), wait));
    let (receiver, wait) = channel();
    tasks.push(drained(Numbers(receiver).boxed(), wait));
    let (stream, wait) = source();
    tasks.push(drained(Either::Channel(stream), wait));
    let (stream, wait) = source();
    tasks.push(drained(Either::Object(stream.boxed()).boxed(), wait));
    let (stream, wait) = source();
    tasks.push(crate::spawned(last(stream), "streams::handwritten::last", wait));
    let (stream, wait) = source();
    tasks.push(crate::spawned(last_boxed(stream), "streams::handwritten::last_boxed", wait));
    tasks
}
