//! Streams that functions and macros make.

use futures_util::stream::{self, Stream, StreamExt};
use futures_util::FutureExt;
use tokio::sync::mpsc;
use truth::tree::at;
use truth::{here, Task};

use crate::sources::{channel, source};
use crate::{drained, drained_tree};

fn numbers(mut receiver: mpsc::Receiver<u32>) -> impl Stream<Item = u32> {
    async_stream::stream! {
        here!("streams::generators::numbers::{async_block#0}");
        while let Some(item) = receiver.recv().await {
            yield item;
        }
    }
}

fn tried(mut receiver: mpsc::Receiver<u32>) -> impl Stream<Item = Result<u32, ()>> {
    async_stream::try_stream! {
        here!("streams::generators::tried::{async_block#0}");
        while let Some(item) = receiver.recv().await {
            yield item;
        }
    }
}

/// One stream in another.
fn looped(receiver: mpsc::Receiver<u32>) -> impl Stream<Item = u32> {
    async_stream::stream! {
        let mut inner = Box::pin(numbers(receiver));
        here!("streams::generators::looped::{async_block#0}");
        while let Some(item) = inner.next().await {
            yield item;
        }
    }
}

async fn step(mut receiver: mpsc::Receiver<u32>) -> Option<(u32, mpsc::Receiver<u32>)> {
    here!("streams::generators::step");
    let item = receiver.recv().await;
    item.map(|item| (item, receiver))
}

fn polled(mut receiver: mpsc::Receiver<u32>) -> impl Stream<Item = u32> {
    stream::poll_fn(move |context| receiver.poll_recv(context))
}

async fn first(mut receiver: mpsc::Receiver<u32>) -> u32 {
    here!("streams::generators::first");
    receiver.recv().await.unwrap_or(0)
}

async fn open(stream: crate::sources::Source) -> crate::sources::Source {
    stream
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = Vec::new();
    let (receiver, wait) = channel();
    let below = || at("streams::generators::numbers::{async_block#0}");
    tasks.push(drained_tree(Box::pin(numbers(receiver)), below(), wait));
    let (receiver, wait) = channel();
    tasks.push(drained_tree(numbers(receiver).boxed(), below(), wait));
    let (receiver, wait) = channel();
    let tried_below = at("streams::generators::tried::{async_block#0}");
    tasks.push(drained_tree(Box::pin(tried(receiver)), tried_below, wait));
    let (receiver, wait) = channel();
    let looped_below = at("streams::generators::looped::{async_block#0}").polls(below());
    tasks.push(drained_tree(looped(receiver).boxed(), looped_below, wait));
    let (receiver, wait) = channel();
    let below = at("streams::generators::step");
    tasks.push(drained_tree(stream::unfold(receiver, step).boxed(), below, wait));
    let (receiver, wait) = channel();
    let below = at("streams::generators::step");
    tasks.push(drained_tree(Box::pin(stream::unfold(receiver, step)), below, wait));
    let (receiver, wait) = channel();
    tasks.push(drained(Box::pin(polled(receiver)), wait));
    let (receiver, wait) = channel();
    tasks.push(drained(polled(receiver).boxed(), wait));
    let (receiver, wait) = channel();
    let below = at("streams::generators::first");
    tasks.push(drained_tree(stream::once(first(receiver)).boxed(), below, wait));
    let (stream, wait) = source();
    tasks.push(drained(Box::pin(stream::once(open(stream)).flatten()), wait));
    let (stream, wait) = source();
    tasks.push(drained(open(stream).flatten_stream().boxed(), wait));
    tasks
}
