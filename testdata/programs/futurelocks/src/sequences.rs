//! Combinators that poll one thing after another: while they poll what a closure made of an item, the
//! futures in the stream below them are not polled (rust-lang/rust 79024).

use std::future::Future;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{iter, once, BoxStream, Stream, StreamExt, TryStreamExt};
use futures_util::FutureExt;
use tokio::time::sleep;
use truth::graph::address;
use truth::here;
use truth::tree::{at, library, Node};

use crate::{for_mutex, lock, spawn_hold, Lock, Tasks};

const SHORT: Duration = Duration::from_millis(20);

/// Is done when the other one has queued.
async fn easy(lock: &'static Lock) {
    let guard = lock.lock().await;
    sleep(SHORT).await;
    drop(guard);
}

async fn work(lock: &'static Lock) {
    here!("futurelocks::sequences::work");
    *lock.lock().await += 1;
}

/// Its first item gives the lock to its second future.
fn stream(lock: &'static Lock) -> impl Stream<Item = ()> {
    iter([easy(lock).boxed(), work(lock).boxed()]).buffered(2)
}

/// What is made of an item wants the lock, too.
async fn want(lock: &'static Lock) {
    here!("futurelocks::sequences::want");
    *lock.lock().await += 1;
}

async fn for_each(lock: &'static Lock) {
    here!("futurelocks::sequences::for_each");
    stream(lock).for_each(|_| want(lock)).await;
}

async fn fold(lock: &'static Lock) {
    here!("futurelocks::sequences::fold");
    stream(lock).fold((), |_, _| want(lock)).await;
}

async fn then(lock: &'static Lock) {
    here!("futurelocks::sequences::then");
    stream(lock).then(|_| want(lock)).collect::<Vec<_>>().await;
}

async fn filter_map(lock: &'static Lock) {
    here!("futurelocks::sequences::filter_map");
    stream(lock).filter_map(|_| want(lock).map(Some)).collect::<Vec<_>>().await;
}

async fn take_while(lock: &'static Lock) {
    here!("futurelocks::sequences::take_while");
    stream(lock).take_while(|_| want(lock).map(|_| true)).collect::<Vec<_>>().await;
}

async fn flat_map(lock: &'static Lock) {
    here!("futurelocks::sequences::flat_map");
    stream(lock).flat_map(|_| once(want(lock))).collect::<Vec<_>>().await;
}

async fn try_for_each(lock: &'static Lock) {
    let items = stream(lock).map(Ok::<(), ()>);
    here!("futurelocks::sequences::try_for_each");
    let _ = items.try_for_each(|_| want(lock).map(Ok)).await;
}

/// The next four have as many futures as they may have.
async fn buffered(lock: &'static Lock) {
    here!("futurelocks::sequences::buffered");
    stream(lock).map(|_| want(lock)).buffered(1).collect::<Vec<_>>().await;
}

async fn buffer_unordered(lock: &'static Lock) {
    here!("futurelocks::sequences::buffer_unordered");
    stream(lock).map(|_| want(lock)).buffer_unordered(1).collect::<Vec<_>>().await;
}

async fn for_each_concurrent(lock: &'static Lock) {
    here!("futurelocks::sequences::for_each_concurrent");
    stream(lock).for_each_concurrent(1, |_| want(lock)).await;
}

async fn try_for_each_concurrent(lock: &'static Lock) {
    let items = stream(lock).map(Ok::<(), ()>);
    here!("futurelocks::sequences::try_for_each_concurrent");
    let _ = items.try_for_each_concurrent(1, |_| want(lock).map(Ok)).await;
}

/// One stream made of the first item, which polls what wants the lock.
fn wants(lock: &'static Lock) -> BoxStream<'static, ()> {
    once(want(lock)).boxed()
}

async fn flat_map_unordered(lock: &'static Lock) {
    here!("futurelocks::sequences::flat_map_unordered");
    stream(lock).flat_map_unordered(1, |_| wants(lock)).collect::<Vec<_>>().await;
}

async fn flatten_unordered(lock: &'static Lock) {
    let mut items = stream(lock).map(|_| wants(lock)).flatten_unordered(1);
    here!("futurelocks::sequences::flatten_unordered");
    while items.next().await.is_some() {}
}

async fn try_flatten_unordered(lock: &'static Lock) {
    let items = stream(lock).map(|_| Ok::<_, ()>(wants(lock).map(Ok::<(), ()>)));
    here!("futurelocks::sequences::try_flatten_unordered");
    let _ = items.try_flatten_unordered(1).try_collect::<Vec<_>>().await;
}

fn nothing(_: ()) -> BoxFuture<'static, ()> {
    async {}.boxed()
}

/// One item that is never done, and what else comes.
fn sleepers(lock: &'static Lock) -> BoxStream<'static, BoxFuture<'static, ()>> {
    let first: BoxFuture<'static, ()> = sleep(truth::FOREVER).boxed();
    iter([first]).chain(iter([work(lock).boxed()]).buffered(1).map(nothing)).boxed()
}

/// As long as one more may be made, the stream is polled.
async fn below_limit(lock: &'static Lock) {
    here!("futurelocks::sequences::below_limit");
    sleepers(lock).buffered(2).collect::<Vec<_>>().await;
}

/// No limit at all.
async fn unlimited(lock: &'static Lock) {
    let items = iter([work(lock).boxed()]).buffered(2);
    here!("futurelocks::sequences::unlimited");
    items.for_each_concurrent(None, |_| want(lock)).await;
}

async fn sleeper() {
    here!("futurelocks::sequences::sleeper");
    sleep(truth::FOREVER).await;
}

/// One stream that has no item, and what else comes.
fn sleeping_streams(lock: &'static Lock) -> BoxStream<'static, BoxStream<'static, ()>> {
    let first = once(sleeper()).boxed();
    iter([first]).chain(once(work(lock)).map(|_| iter([]).boxed())).boxed()
}

async fn flat_below_limit(lock: &'static Lock) {
    here!("futurelocks::sequences::flat_below_limit");
    sleeping_streams(lock).flatten_unordered(2).collect::<Vec<_>>().await;
}

async fn flat_unlimited(lock: &'static Lock) {
    here!("futurelocks::sequences::flat_unlimited");
    sleeping_streams(lock).flatten_unordered(None).collect::<Vec<_>>().await;
}

/// The stream is a variable of this.
async fn by_reference(lock: &'static Lock) {
    let mut items = stream(lock).boxed();
    here!("futurelocks::sequences::by_reference");
    (&mut items).for_each(|_| want(lock)).await;
}

/// As long as there is no item, the futures are polled.
async fn no_item(lock: &'static Lock) {
    let items = iter([work(lock).boxed()]).buffered(2);
    here!("futurelocks::sequences::no_item");
    items.for_each(|_| want(lock)).await;
}

fn stuck<F>(tasks: &mut Tasks, run: fn(&'static Lock) -> F, name: &'static str)
where
    F: Future<Output = ()> + Send + 'static,
{
    let lock = lock();
    let tree = at(name)
        .polls(at("futurelocks::sequences::want"))
        .held(at("futurelocks::sequences::work").certain());
    let task = tasks.spawn_tree(run(lock), tree, Some(for_mutex(lock)));
    tasks.graph.futurelock(task, address(lock), true);
    tasks.graph.waits(task, "mutex", address(lock), &[task]);
}

/// It polls all that it has; another task has the lock.
async fn healthy<F>(tasks: &mut Tasks, run: fn(&'static Lock) -> F, tree: Node)
where
    F: Future<Output = ()> + Send + 'static,
{
    let lock = lock();
    let holder = spawn_hold(tasks, lock).await;
    let task = tasks.spawn_tree(run(lock), tree, Some(for_mutex(lock)));
    tasks.graph.waits(task, "mutex", address(lock), &[holder]);
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    stuck(tasks, for_each, "futurelocks::sequences::for_each");
    stuck(tasks, fold, "futurelocks::sequences::fold");
    stuck(tasks, then, "futurelocks::sequences::then");
    stuck(tasks, filter_map, "futurelocks::sequences::filter_map");
    stuck(tasks, take_while, "futurelocks::sequences::take_while");
    stuck(tasks, flat_map, "futurelocks::sequences::flat_map");
    stuck(tasks, try_for_each, "futurelocks::sequences::try_for_each");
    stuck(tasks, buffered, "futurelocks::sequences::buffered");
    stuck(tasks, buffer_unordered, "futurelocks::sequences::buffer_unordered");
    stuck(tasks, for_each_concurrent, "futurelocks::sequences::for_each_concurrent");
    stuck(tasks, try_for_each_concurrent, "futurelocks::sequences::try_for_each_concurrent");
    stuck(tasks, flat_map_unordered, "futurelocks::sequences::flat_map_unordered");
    stuck(tasks, flatten_unordered, "futurelocks::sequences::flatten_unordered");
    stuck(tasks, try_flatten_unordered, "futurelocks::sequences::try_flatten_unordered");
    stuck(tasks, by_reference, "futurelocks::sequences::by_reference");

    let polls = |name| at(name).polls(at("futurelocks::sequences::work"));
    healthy(tasks, no_item, polls("futurelocks::sequences::no_item")).await;
    healthy(tasks, unlimited, polls("futurelocks::sequences::unlimited")).await;
    let below_limit_polls = polls("futurelocks::sequences::below_limit").set(library());
    healthy(tasks, below_limit, below_limit_polls).await;
    let flat = |name| polls(name).set(at("futurelocks::sequences::sleeper"));
    healthy(tasks, flat_below_limit, flat("futurelocks::sequences::flat_below_limit")).await;
    healthy(tasks, flat_unlimited, flat("futurelocks::sequences::flat_unlimited")).await;
}
