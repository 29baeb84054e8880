//! Streams of several streams.

use futures_util::stream::{self, StreamExt};
use tokio_stream::{StreamExt as _, StreamMap};
use truth::{Task, Wait};

use crate::drained;
use crate::objects::Boxed;
use crate::sources::{source, Source};

fn several(number: usize) -> (Vec<Source>, Vec<Wait>) {
    (0..number).map(|_| source()).unzip()
}

fn several_boxed(number: usize) -> (Vec<Boxed>, Vec<Wait>) {
    let (streams, waits) = several(number);
    (streams.into_iter().map(|stream| stream.boxed()).collect(), waits)
}

/// A task that waits for all of these at once.
fn all(stream: impl stream::Stream + Unpin + Send + 'static, waits: Vec<Wait>) -> Task {
    let number = waits.len();
    let mut waits = waits.into_iter();
    let mut task = drained(stream, waits.next().expect("there is one")).leaves(number);
    for wait in waits {
        task = task.beside(wait);
    }
    task
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = Vec::new();
    let (streams, waits) = several_boxed(3);
    tasks.push(all(stream::select_all(streams), waits));
    let (streams, waits) = several(2);
    tasks.push(all(stream::select_all(streams), waits));

    let (streams, waits) = several_boxed(2);
    let map: StreamMap<_, _> = ["first", "second"].into_iter().zip(streams).collect();
    tasks.push(all(map, waits));
    let (streams, waits) = several(3);
    let map: StreamMap<u64, _> = (10..).zip(streams).collect();
    tasks.push(all(map, waits));

    let (mut streams, waits) = several(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(all(stream::select(first, StreamExt::map(second, |item| item)), waits));
    let (mut streams, waits) = several_boxed(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(all(stream::select(first, second), waits));
    let (mut streams, waits) = several_boxed(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(all(first.merge(second), waits));
    let (mut streams, waits) = several_boxed(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(all(StreamExt::zip(first, second), waits));

    // The second is polled when the first has ended.
    let (mut streams, waits) = several_boxed(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(drained(StreamExt::chain(first, second), waits[0].clone()));
    let (mut streams, waits) = several_boxed(2);
    let (second, first) = (streams.pop().unwrap(), streams.pop().unwrap());
    tasks.push(drained(tokio_stream::StreamExt::chain(first, second), waits[0].clone()));
    let (stream, wait) = source();
    tasks.push(drained(StreamExt::chain(stream::iter(0..3), stream), wait));

    let (streams, waits) = several_boxed(2);
    tasks.push(all(stream::iter(streams).flatten_unordered(None), waits));
    let (streams, waits) = several_boxed(2);
    tasks.push(drained(stream::iter(streams).flatten(), waits[0].clone()));
    tasks
}
