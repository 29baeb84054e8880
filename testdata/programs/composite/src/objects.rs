//! Futures inside objects of a trait of the program's own, which nobody knows to be polled: alone,
//! beside a socket that has the waker of their task, beside another future.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{sleep, Sleep};
use truth::here;
use truth::tree::{at, Node};
use truth::{Wait, FOREVER};
use truth_tokio::Tasks;

use crate::{nap, readable, silent, Boxed};

/// An end that comes some time; no trait of futures.
pub(crate) trait Source: Send {
    fn poll_end(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>;
}

pub(crate) type Object = Pin<Box<dyn Source>>;

/// The future of an async function.
struct Nap(Boxed);

impl Source for Nap {
    fn poll_end(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// A timer of tokio.
struct Timer(Pin<Box<Sleep>>);

impl Source for Timer {
    fn poll_end(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// Over when the object is.
pub(crate) struct Alone(pub(crate) Object);

impl Future for Alone {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll_end(cx)
    }
}

/// Over when the object is, or when there is something to read.
pub(crate) struct Reads(pub(crate) Object, pub(crate) TcpStream);

impl Future for Reads {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.as_mut().poll_end(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut byte = [0];
        Pin::new(&mut self.1).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(drop)
    }
}

/// Over when the object is, or the future.
pub(crate) struct Either(pub(crate) Object, pub(crate) Boxed);

impl Future for Either {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.as_mut().poll_end(cx).is_ready() {
            return Poll::Ready(());
        }
        self.1.as_mut().poll(cx)
    }
}

pub(crate) async fn other() {
    here!("composite::objects::other");
    sleep(FOREVER).await;
}

async fn alone() {
    let object = Box::pin(Nap(Box::pin(nap())));
    here!("composite::objects::alone");
    Alone(object).await;
}

async fn timer() {
    let object = Box::pin(Timer(Box::pin(sleep(FOREVER))));
    here!("composite::objects::timer");
    Alone(object).await;
}

async fn reads(stream: TcpStream) {
    let object = Box::pin(Nap(Box::pin(nap())));
    here!("composite::objects::reads");
    Reads(object, stream).await;
}

async fn reads_timed(stream: TcpStream) {
    let object = Box::pin(Timer(Box::pin(sleep(FOREVER))));
    here!("composite::objects::reads_timed");
    Reads(object, stream).await;
}

async fn either() {
    let object = Box::pin(Nap(Box::pin(nap())));
    here!("composite::objects::either");
    Either(object, Box::pin(other())).await;
}

/// Its object was not polled since it was made.
async fn fresh(stream: TcpStream) {
    let object = Box::pin(Nap(Box::pin(nap())));
    here!("composite::objects::fresh");
    Later(object, stream).await;
}

/// Polls the object when there is something to read.
struct Later(Object, TcpStream);

impl Future for Later {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.1.poll_read_ready(cx).is_pending() {
            return Poll::Pending;
        }
        self.0.as_mut().poll_end(cx)
    }
}

pub(crate) fn spawn(
    tasks: &mut Tasks,
    future: impl Future<Output = ()> + Send + 'static,
    tree: Node,
    wait: Wait,
    leaves: usize,
) {
    tasks.spawn_tree(future, tree, Some(wait));
    tasks.leaves(leaves);
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    let sleeps = || Wait::new("sleep");
    let tree = at("composite::objects::alone").polls(at("composite::nap"));
    spawn(tasks, alone(), tree, sleeps(), 1);
    spawn(tasks, timer(), at("composite::objects::timer"), sleeps(), 1);
    let tree = at("composite::objects::reads").polls(at("composite::nap"));
    spawn(tasks, reads(silent().await), tree, readable(), 2);
    let tree = at("composite::objects::reads_timed");
    spawn(tasks, reads_timed(silent().await), tree, sleeps(), 2);
    tasks.beside(readable());
    let tree = at("composite::objects::either").polls(at("composite::nap"));
    let tree = tree.polls(at("composite::objects::other"));
    spawn(tasks, either(), tree, sleeps(), 2);
    spawn(tasks, fresh(silent().await), at("composite::objects::fresh"), readable(), 1);
}
