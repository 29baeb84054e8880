//! Streams and sinks of futures-util, tokio-stream and async-stream, and those of a program: what
//! the task waits for is at their end.

mod adapters;
mod generators;
mod handwritten;
mod objects;
mod sets;
mod sinks;
mod sources;

use std::future::Future;

use futures_util::{Stream, StreamExt};
use truth::tree::{at, Node};
use truth::{here, Task, Truth, Wait};

/// Takes all that a stream has.
async fn drain<S: Stream + Unpin>(mut stream: S) {
    here!("streams::drain");
    while stream.next().await.is_some() {}
}

/// A task that drains the stream.
fn drained(stream: impl Stream + Unpin + Send + 'static, wait: Wait) -> Task {
    spawned(drain(stream), "streams::drain", wait)
}

fn spawned(
    future: impl Future<Output = ()> + Send + 'static,
    name: &'static str,
    wait: Wait,
) -> Task {
    Task::idle(truth::id(&tokio::spawn(future)), &[name]).waits(wait)
}

/// A task that drains a stream in which coroutines of the program are.
fn drained_tree(stream: impl Stream + Unpin + Send + 'static, below: Node, wait: Wait) -> Task {
    let id = truth::id(&tokio::spawn(drain(stream)));
    Task::idle_tree(id, at("streams::drain").polls(below)).waits(wait)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    Truth::new("streams")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(objects::spawn_all())
        .tasks(sets::spawn_all())
        .tasks(adapters::spawn_all())
        .tasks(generators::spawn_all())
        .tasks(handwritten::spawn_all())
        .tasks(sources::spawn_all().await)
        .tasks(sinks::spawn_all().await)
        .block_on(&["streams::main::{async_block#0}"])
        .publish();
    here!("streams::main::{async_block#0}");
    std::future::pending::<()>().await;
}
