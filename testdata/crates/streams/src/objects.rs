//! Trait objects of streams.

use std::fmt::Debug;
use std::pin::Pin;

use futures_util::{Stream, StreamExt};
use truth::{here, Task};

use crate::sources::{keep, source, Source};
use crate::{drained, spawned};

pub(crate) type Boxed = Pin<Box<dyn Stream<Item = u32> + Send>>;

/// A trait with another one's methods before its own.
trait Events: Debug + Stream<Item = u32> {
    fn number(&self) -> u32 {
        7
    }
}

impl Events for Source {}

async fn by_tokio(mut stream: Boxed) {
    here!("streams::objects::by_tokio");
    while tokio_stream::StreamExt::next(&mut stream).await.is_some() {}
}

async fn try_next(mut stream: Pin<Box<dyn Stream<Item = Result<u32, ()>> + Send>>) {
    here!("streams::objects::try_next");
    while let Ok(Some(_)) = futures_util::TryStreamExt::try_next(&mut stream).await {}
}

async fn peeked(stream: Boxed) {
    let mut stream = stream.peekable();
    here!("streams::objects::peeked");
    Pin::new(&mut stream).peek().await;
}

async fn collected(stream: Boxed) {
    here!("streams::objects::collected");
    stream.collect::<Vec<u32>>().await;
}

async fn folded(stream: Boxed) {
    here!("streams::objects::folded");
    stream.fold(0, |sum, item| async move { sum + item }).await;
}

async fn for_each(stream: Boxed) {
    here!("streams::objects::for_each");
    stream.for_each(|_| async {}).await;
}

async fn into_future(stream: Boxed) {
    here!("streams::objects::into_future");
    let _ = stream.into_future().await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = Vec::new();
    let (stream, wait) = source();
    tasks.push(drained(Box::pin(stream) as Boxed, wait));
    let (stream, wait) = source();
    tasks.push(drained(Box::new(stream) as Box<dyn Stream<Item = u32> + Send + Unpin>, wait));
    let (stream, wait) = source();
    tasks.push(drained(keep(stream) as &mut (dyn Stream<Item = u32> + Send + Unpin), wait));
    let (stream, wait) = source();
    tasks.push(drained(stream.map(|item| item + 1).boxed(), wait));
    let (stream, wait) = source();
    tasks.push(drained(stream.boxed().filter(|_| async { true }).boxed().skip(1).boxed(), wait));
    let (stream, wait) = source();
    assert_eq!(stream.number(), 7);
    tasks.push(drained(Box::pin(stream) as Pin<Box<dyn Events + Send>>, wait));
    let (stream, wait) = source();
    tasks.push(spawned(by_tokio(stream.boxed()), "streams::objects::by_tokio", wait));
    let (stream, wait) = source();
    tasks.push(spawned(try_next(stream.map(Ok).boxed()), "streams::objects::try_next", wait));
    let (stream, wait) = source();
    tasks.push(spawned(peeked(stream.boxed()), "streams::objects::peeked", wait));
    let (stream, wait) = source();
    tasks.push(spawned(collected(stream.boxed()), "streams::objects::collected", wait));
    let (stream, wait) = source();
    tasks.push(spawned(folded(stream.boxed()), "streams::objects::folded", wait));
    let (stream, wait) = source();
    tasks.push(spawned(for_each(stream.boxed()), "streams::objects::for_each", wait));
    let (stream, wait) = source();
    tasks.push(spawned(into_future(stream.boxed()), "streams::objects::into_future", wait));
    tasks
}
