//! Streams and sets inside objects of a trait of the program's own: alone, beside a socket that has
//! the waker of their task, beside another future.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, FuturesUnordered, Stream, StreamExt};
use tokio::net::TcpStream;
use truth::here;
use truth::tree::{at, Node};
use truth::Wait;
use truth_tokio::Tasks;

use crate::objects::{other, spawn, Alone, Either, Object, Reads, Source};
use crate::{nap, readable, silent, Boxed};

type Items = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// Over when the stream is.
struct Ends(Items);

impl Source for Ends {
    fn poll_end(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(item) = self.0.as_mut().poll_next(cx) {
            if item.is_none() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

/// Over when all of them are.
struct Crowd(FuturesUnordered<Boxed>);

impl Source for Crowd {
    fn poll_end(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        while let Poll::Ready(item) = self.0.poll_next_unpin(cx) {
            if item.is_none() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

async fn item() -> Option<((), ())> {
    here!("composite::streams::item");
    nap().await;
    None
}

async fn made() {
    here!("composite::streams::made");
    nap().await;
}

fn slow() -> Object {
    Box::pin(Ends(stream::unfold((), |()| item()).boxed()))
}

fn busy() -> Object {
    Box::pin(Ends(stream::iter([1]).then(|_| made()).boxed()))
}

fn crowd() -> Object {
    let set = FuturesUnordered::new();
    set.push(Box::pin(made()) as Boxed);
    set.push(Box::pin(made()) as Boxed);
    Box::pin(Crowd(set))
}

async fn alone(object: Object) {
    here!("composite::streams::alone");
    Alone(object).await;
}

async fn reads(object: Object, stream: TcpStream) {
    here!("composite::streams::reads");
    Reads(object, stream).await;
}

async fn either(object: Object) {
    here!("composite::streams::either");
    Either(object, Box::pin(other())).await;
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    let sleeps = || Wait::new("sleep");
    let items = || at("composite::streams::item").polls(at("composite::nap"));
    let mades = || at("composite::streams::made").polls(at("composite::nap"));
    let tree = || at("composite::streams::alone");
    spawn(tasks, alone(slow()), tree().polls(items()), sleeps(), 1);
    spawn(tasks, alone(busy()), tree().polls(mades()), sleeps(), 1);
    spawn(tasks, alone(crowd()), tree().polls(mades()).polls(mades()), sleeps(), 2);
    let tree = || -> Node { at("composite::streams::reads") };
    spawn(tasks, reads(slow(), silent().await), tree().polls(items()), readable(), 2);
    spawn(tasks, reads(busy(), silent().await), tree().polls(mades()), readable(), 2);
    let all = tree().polls(mades()).polls(mades());
    spawn(tasks, reads(crowd(), silent().await), all, readable(), 3);
    let tree = || at("composite::streams::either");
    let beside = || at("composite::objects::other");
    spawn(tasks, either(slow()), tree().polls(items()).polls(beside()), sleeps(), 2);
    spawn(tasks, either(busy()), tree().polls(mades()).polls(beside()), sleeps(), 2);
    let all = tree().polls(mades()).polls(mades()).polls(beside());
    spawn(tasks, either(crowd()), all, sleeps(), 3);
}
