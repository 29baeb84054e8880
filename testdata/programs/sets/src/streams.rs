use futures_util::stream::{self, StreamExt};
use truth::here;
use truth::tree::at;
use truth::Task;

use crate::{nap, spawn};

async fn buffer_unordered() {
    let mut stream = stream::iter(0..10).map(|_| nap()).buffer_unordered(3);
    here!("sets::streams::buffer_unordered");
    while stream.next().await.is_some() {}
}

async fn buffered() {
    let mut stream = stream::iter(0..10).map(|_| nap()).buffered(3);
    here!("sets::streams::buffered");
    while stream.next().await.is_some() {}
}

async fn collected() {
    let stream = stream::iter(0..10).map(|_| nap()).buffer_unordered(4);
    here!("sets::streams::collected");
    stream.collect::<Vec<()>>().await;
}

async fn concurrent() {
    here!("sets::streams::concurrent");
    stream::iter(0..10).for_each_concurrent(2, |_| nap()).await;
}

async fn one_by_one() {
    here!("sets::streams::one_by_one");
    stream::iter(0..10).for_each(|_| nap()).await;
}

async fn then() {
    let stream = stream::iter(0..10).then(|_| nap());
    tokio::pin!(stream);
    here!("sets::streams::then");
    while stream.next().await.is_some() {}
}

async fn once() {
    let mut stream = Box::pin(stream::once(nap()));
    here!("sets::streams::once");
    while stream.next().await.is_some() {}
}

pub(crate) fn spawn_all() -> Vec<Task> {
    vec![
        spawn(
            buffer_unordered(),
            at("sets::streams::buffer_unordered").set(at("sets::nap").times(3)),
        ),
        spawn(buffered(), at("sets::streams::buffered").set(at("sets::nap").times(3))),
        spawn(collected(), at("sets::streams::collected").set(at("sets::nap").times(4))),
        spawn(concurrent(), at("sets::streams::concurrent").set(at("sets::nap").times(2))),
        spawn(one_by_one(), at("sets::streams::one_by_one").then(at("sets::nap"))),
        spawn(then(), at("sets::streams::then").then(at("sets::nap"))),
        spawn(once(), at("sets::streams::once").then(at("sets::nap"))),
    ]
}
