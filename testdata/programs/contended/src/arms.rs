//! Futures that one task polls side by side and that wait for each other, but can go on.

use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{mpsc, Semaphore};
use truth::here;
use truth::tree::at;

use crate::{for_mutex, lock, nap, waits_for, Lock, Tasks};

async fn use_it(lock: &'static Lock) {
    let mut guard = lock.lock().await;
    here!("contended::arms::use_it");
    nap().await;
    *guard += 1;
}

async fn want_it(lock: &'static Lock) {
    here!("contended::arms::want_it");
    *lock.lock().await += 1;
}

/// One arm has the lock and sleeps.
async fn both(lock: &'static Lock) {
    let first = use_it(lock);
    let second = async {
        while lock.try_lock().is_ok() {
            tokio::task::yield_now().await;
        }
        here!("contended::arms::both::{async_block#0}");
        want_it(lock).await;
    };
    here!("contended::arms::both");
    tokio::join!(first, second);
}

async fn produce(sender: mpsc::Sender<u32>) {
    here!("contended::arms::produce");
    nap().await;
    let _ = sender.send(1).await;
}

async fn consume(mut receiver: mpsc::Receiver<u32>) {
    here!("contended::arms::consume");
    while receiver.recv().await.is_some() {}
}

/// Both ends of a channel in one task.
async fn pipe() {
    let (sender, receiver) = mpsc::channel(1);
    here!("contended::arms::pipe");
    tokio::join!(produce(sender), consume(receiver));
}

/// The same, and the ends lie beside the arms, which only refer to them.
async fn pipe_borrowed() {
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    let produce = async {
        here!("contended::arms::pipe_borrowed::{async_block#0}");
        nap().await;
        let _ = sender.send(1).await;
    };
    let consume = async {
        here!("contended::arms::pipe_borrowed::{async_block#1}");
        while receiver.recv().await.is_some() {}
    };
    here!("contended::arms::pipe_borrowed");
    tokio::join!(produce, consume);
}

/// One arm waits for room that the other will make.
async fn push_borrowed() {
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    let produce = async {
        sender.send(1).await.expect("it is gone");
        here!("contended::arms::push_borrowed::{async_block#0}");
        let _ = sender.send(1).await;
    };
    let consume = async {
        here!("contended::arms::push_borrowed::{async_block#1}");
        nap().await;
        while receiver.recv().await.is_some() {}
    };
    here!("contended::arms::push_borrowed");
    tokio::join!(produce, consume);
}

async fn fetch(limit: Arc<Semaphore>) {
    here!("contended::arms::fetch");
    let permit = limit.acquire().await;
    here!("contended::arms::fetch permitted");
    nap().await;
    drop(permit);
}

/// Not more than two at the same time.
async fn fetch_all() {
    let limit = Arc::new(Semaphore::new(2));
    here!("contended::arms::fetch_all");
    join_all((0..4).map(|_| fetch(limit.clone()))).await;
}

async fn fetch_each() {
    let limit = Arc::new(Semaphore::new(1));
    let mut set: FuturesUnordered<_> = (0..3).map(|_| fetch(limit.clone())).collect();
    here!("contended::arms::fetch_each");
    while set.next().await.is_some() {}
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let lock = lock();
    let sleeps = || at("contended::nap");
    let second = at("contended::arms::both::{async_block#0}").then(at("contended::arms::want_it"));
    let tree = at("contended::arms::both")
        .join(0, at("contended::arms::use_it").then(sleeps()))
        .join(1, second);
    let task = tasks.spawn_tree(both(lock), tree, Some(for_mutex(lock)));
    waits_for(tasks, task, lock, task);

    let tree = at("contended::arms::pipe")
        .join(0, at("contended::arms::produce").then(sleeps()))
        .join(1, at("contended::arms::consume"));
    let task = tasks.spawn_tree(pipe(), tree, None);
    tasks.graph.waits(task, "mpsc_recv", None, &[task]);

    let tree = at("contended::arms::pipe_borrowed")
        .join(0, at("contended::arms::pipe_borrowed::{async_block#0}").then(sleeps()))
        .join(1, at("contended::arms::pipe_borrowed::{async_block#1}"));
    tasks.spawn_tree(pipe_borrowed(), tree, None);

    let tree = at("contended::arms::push_borrowed")
        .join(0, at("contended::arms::push_borrowed::{async_block#0}"))
        .join(1, at("contended::arms::push_borrowed::{async_block#1}").then(sleeps()));
    tasks.spawn_tree(push_borrowed(), tree, None);

    let permitted = |times| at("contended::arms::fetch permitted").then(sleeps()).times(times);
    let waiting = || at("contended::arms::fetch").times(2);
    let tree = at("contended::arms::fetch_all").set(permitted(2)).set(waiting());
    let task = tasks.spawn_tree(fetch_all(), tree, None);
    tasks.graph.waits(task, "semaphore", None, &[task]);
    let tree = at("contended::arms::fetch_each").set(permitted(1)).set(waiting());
    let task = tasks.spawn_tree(fetch_each(), tree, None);
    tasks.graph.waits(task, "semaphore", None, &[task]);
}
