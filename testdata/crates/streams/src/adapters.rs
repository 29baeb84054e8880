//! Adapters of futures-util and tokio-stream, of streams and of trait objects of streams.

use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::time::sleep;
use tokio_stream::StreamExt as Tokio;
use truth::tree::at;
use truth::{here, Task, Wait, FOREVER};

use crate::sources::{filled, source};
use crate::{drained, drained_tree};

async fn nap() {
    here!("streams::adapters::nap");
    sleep(FOREVER).await;
}

async fn admitted() -> bool {
    here!("streams::adapters::admitted");
    nap().await;
    true
}

async fn keep(item: &u32) -> bool {
    *item > 0
}

fn sleeps() -> Wait {
    Wait::new("sleep")
}

/// The stream below has nothing.
fn waiting_for_an_item() -> Vec<Task> {
    let mut tasks = Vec::new();
    macro_rules! both {
        ($make:expr) => {
            let (stream, wait) = source();
            tasks.push(drained(Box::pin($make(stream)), wait));
            let (stream, wait) = source();
            tasks.push(drained(Box::pin($make(stream.boxed())), wait));
        };
    }
    both!(|s| StreamExt::map(s, |item: u32| item + 1));
    both!(|s| Tokio::map(s, |item: u32| item + 1));
    both!(|s| StreamExt::then(s, |_| nap()));
    both!(|s| Tokio::then(s, |_| nap()));
    both!(|s| StreamExt::filter(s, |item: &u32| {
        let item = *item;
        async move { keep(&item).await }
    }));
    both!(|s| Tokio::filter(s, |item: &u32| *item > 0));
    both!(|s| StreamExt::filter_map(s, |item: u32| async move { keep(&item).await.then(|| item) }));
    both!(|s| Tokio::filter_map(s, |item: u32| Some(item)));
    both!(|s| StreamExt::map(s, |_| nap()).buffer_unordered(3));
    both!(|s| StreamExt::map(s, |_| nap()).buffered(3));
    both!(|s| StreamExt::chunks(s, 4));
    both!(|s| StreamExt::ready_chunks(s, 4));
    both!(|s| StreamExt::enumerate(s));
    both!(|s| StreamExt::fuse(s));
    both!(|s| Tokio::fuse(s));
    both!(|s| StreamExt::inspect(s, |_| ()));
    both!(|s| StreamExt::peekable(s));
    both!(|s| StreamExt::skip(s, 1));
    both!(|s| StreamExt::take(s, 4));
    both!(|s| Tokio::take(s, 4));
    both!(|s| Tokio::skip(s, 4));
    both!(|s| Tokio::throttle(s, Duration::from_secs(3600)));
    both!(|s| StreamExt::take_while(s, |_| async { true }));
    both!(|s| StreamExt::skip_while(s, |_| async { true }));
    both!(|s| StreamExt::scan(s, 0, |_, item: u32| async move { Some(item) }));
    both!(|s| StreamExt::flat_map(s, |_| stream::iter(0..3)));
    both!(|s| StreamExt::map(s, Ok::<u32, ()>).try_filter(|_| async { true }));
    both!(|s| StreamExt::map(s, Ok::<u32, ()>).and_then(|item| async move { Ok(item) }));
    both!(|s| StreamExt::map(s, Ok::<u32, ()>).map_ok(|item| item + 1).map_err(|_| 3));
    both!(|s| StreamExt::map(s, Ok::<u32, ()>).into_stream());
    tasks
}

/// The stream below has had an item, and the adapter waits for what it makes of it.
fn waiting_for_a_future() -> Vec<Task> {
    let mut tasks = Vec::new();
    macro_rules! both {
        ($make:expr, $edge:ident, $below:expr) => {
            let (stream, _) = filled(5);
            let below = || $below;
            let id = truth::id(&tokio::spawn(crate::drain(Box::pin($make(stream)))));
            tasks.push(Task::idle_tree(id, at("streams::drain").$edge(below())).waits(sleeps()));
            let (stream, _) = filled(5);
            let id = truth::id(&tokio::spawn(crate::drain(Box::pin($make(stream.boxed())))));
            tasks.push(Task::idle_tree(id, at("streams::drain").$edge(below())).waits(sleeps()));
        };
    }
    both!(|s| StreamExt::then(s, |_| nap()), polls, at("streams::adapters::nap"));
    both!(
        |s| StreamExt::filter(s, |_| admitted()),
        polls,
        at("streams::adapters::admitted").then(at("streams::adapters::nap"))
    );
    both!(|s| Tokio::then(s, |_| nap()), polls, at("streams::adapters::nap"));
    both!(
        |s| StreamExt::map(s, |_| nap()).buffer_unordered(3),
        set,
        at("streams::adapters::nap").times(3)
    );
    both!(|s| StreamExt::map(s, |_| nap()).buffered(3), set, at("streams::adapters::nap").times(3));
    tasks
}

/// A timer beside the stream.
fn with_a_timer() -> Vec<Task> {
    let mut tasks = Vec::new();
    macro_rules! both {
        ($make:expr) => {
            let (stream, wait) = source();
            tasks.push(drained(Box::pin($make(stream)), wait).beside(sleeps()).leaves(2));
            let (stream, wait) = source();
            tasks.push(drained(Box::pin($make(stream.boxed())), wait).beside(sleeps()).leaves(2));
        };
    }
    both!(|s| Tokio::timeout(s, FOREVER));
    both!(|s| StreamExt::take_until(s, sleep(FOREVER)));
    // Only after its first item this one waits for its timer.
    let (stream, _) = filled(5);
    let throttled = Tokio::throttle(stream, FOREVER);
    tasks.push(drained(Box::pin(throttled), sleeps()));
    let (stream, _) = filled(2);
    let chunks = Tokio::chunks_timeout(stream, 4, FOREVER);
    let wait = Wait::new("mpsc_recv").with("queued", 0).with("capacity", 50);
    tasks.push(drained(Box::pin(chunks), wait).beside(sleeps()));
    tasks
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = waiting_for_an_item();
    tasks.extend(waiting_for_a_future());
    tasks.extend(with_a_timer());
    let below = at("streams::adapters::nap");
    tasks.push(drained_tree(Box::pin(stream::once(nap())), below, sleeps()));
    tasks
}
