//! Boxed futures and handles that went from variable to variable before somebody polled them: each is one
//! future, of the frame that polls it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{poll_immediate, FutureExt, Shared};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use truth::here;
use truth::tree::{at, Node};
use truth::{Task, FOREVER};

use crate::{doze, nap, spawn};

type Boxed = Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>>;

fn look<T>(_: &T) {}

async fn poll_once<T: Future + Unpin>(future: &mut T) {
    assert!(poll_immediate(future).await.is_none());
}

async fn renamed() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    let second = first;
    look(&second);
    let third = second;
    here!("selects::handed::renamed");
    let _ = third.await;
}

/// A future around one.
async fn wrapped() {
    let first = timeout(FOREVER, Box::pin(doze()) as Boxed);
    look(&first);
    let second = first;
    here!("selects::handed::wrapped");
    let _ = second.await;
}

async fn fused() {
    let mut first = (Box::pin(doze()) as Boxed).fuse();
    poll_once(&mut first).await;
    let second = first;
    here!("selects::handed::fused");
    let _ = second.await;
}

async fn by_value<T: Future>(future: T) {
    look(&future);
    here!("selects::handed::by_value");
    let _ = future.await;
}

async fn given() {
    let mut first = (Box::pin(doze()) as Boxed).fuse();
    poll_once(&mut first).await;
    here!("selects::handed::given");
    by_value(first).await;
}

async fn given_plain() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    here!("selects::handed::given_plain");
    by_value(first).await;
}

struct Owner<T> {
    name: String,
    future: T,
}

impl<T: Future + Unpin> Owner<T> {
    async fn run(self) {
        look(&self.name);
        here!("selects::handed::Owner::run");
        let _ = self.future.await;
    }
}

impl<T: Future + Unpin> Future for Owner<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        look(&self.name);
        Pin::new(&mut self.future).poll(cx)
    }
}

async fn into_struct() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    let owner = Owner { name: "owner".to_string(), future: first };
    look(&owner);
    here!("selects::handed::into_struct");
    owner.run().await;
}

async fn own_future() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    let mut owner = Owner { name: "owner".to_string(), future: first };
    poll_once(&mut owner).await;
    let other = owner;
    here!("selects::handed::own_future");
    let _ = other.await;
}

/// What another task polls is a handle's, and a handle has one owner.
async fn handle(handle: JoinHandle<Result<u32, ()>>) {
    let mut first = Owner { name: "owner".to_string(), future: handle };
    poll_once(&mut first).await;
    let second = first;
    here!("selects::handed::handle");
    let _ = second.await;
}

async fn selected() {
    let mut first = (Box::pin(doze()) as Boxed).fuse();
    poll_once(&mut first).await;
    here!("selects::handed::selected");
    tokio::select! {
        _ = first => {}
        _ = nap() => {}
    }
}

async fn taken() {
    let mut slot = Some((Box::pin(doze()) as Boxed).fuse());
    poll_once(slot.as_mut().unwrap()).await;
    let future = slot.take().unwrap();
    here!("selects::handed::taken");
    let _ = future.await;
}

/// The variable keeps what is no longer in it: nobody has set it to None.
async fn unwrapped() {
    let mut slot = Some((Box::pin(doze()) as Boxed).fuse());
    poll_once(slot.as_mut().unwrap()).await;
    let future = slot.unwrap();
    here!("selects::handed::unwrapped");
    let _ = future.await;
}

async fn listed() {
    let mut list = vec![(Box::pin(doze()) as Boxed).fuse()];
    poll_once(&mut list[0]).await;
    for future in list {
        here!("selects::handed::listed");
        let _ = future.await;
    }
}

/// None of the variables is polled: the newest has it.
async fn held_twice() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    let second = first.fuse();
    look(&second);
    here!("selects::handed::held_twice");
    nap().await;
    let _ = second.await;
}

async fn keep<T: Future>(future: T) {
    look(&future);
    here!("selects::handed::keep");
    nap().await;
    let _ = future.await;
}

async fn kept_below() {
    let mut first: Boxed = Box::pin(doze());
    poll_once(&mut first).await;
    here!("selects::handed::kept_below");
    keep(first).await;
}

fn two() -> (Shared<Boxed>, Shared<Boxed>) {
    let future = (Box::pin(doze()) as Boxed).shared();
    (future.clone(), future)
}

/// The other way round: what is shared is not owned by the one who polls it, and this one is held.
async fn shared() {
    let (future, mut other) = two();
    poll_once(&mut other).await;
    here!("selects::handed::shared");
    let _ = future.await;
    let _ = other.await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let polls = |name| at(name).then(at("selects::doze"));
    let other = tokio::spawn(doze());
    let one = |node: Node| node.then(at("selects::doze"));
    vec![
        spawn(renamed(), polls("selects::handed::renamed")),
        spawn(wrapped(), polls("selects::handed::wrapped")),
        spawn(wrapped(), polls("selects::handed::wrapped")),
        spawn(fused(), polls("selects::handed::fused")),
        spawn(given(), at("selects::handed::given").then(one(at("selects::handed::by_value")))),
        spawn(
            given_plain(),
            at("selects::handed::given_plain").then(one(at("selects::handed::by_value"))),
        ),
        spawn(
            into_struct(),
            at("selects::handed::into_struct").then(one(at("selects::handed::Owner::run"))),
        ),
        spawn(own_future(), polls("selects::handed::own_future")),
        spawn(taken(), polls("selects::handed::taken")),
        spawn(unwrapped(), polls("selects::handed::unwrapped")),
        spawn(listed(), polls("selects::handed::listed")),
        Task::idle(truth::id(&other), &["selects::doze"]),
        spawn(handle(other), at("selects::handed::handle")),
        spawn(
            selected(),
            at("selects::handed::selected")
                .select(0, at("selects::doze"))
                .select(1, at("selects::nap")),
        ),
        spawn(
            held_twice(),
            at("selects::handed::held_twice").then(at("selects::nap")).held(at("selects::doze")),
        ),
        spawn(
            kept_below(),
            at("selects::handed::kept_below").then(
                at("selects::handed::keep").then(at("selects::nap")).held(at("selects::doze")),
            ),
        ),
        spawn(
            shared(),
            at("selects::handed::shared")
                .then(at("selects::doze"))
                .held(at("selects::doze").shared()),
        ),
    ]
}
