//! A task that, once it is told to, takes tokio's trace of itself.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tokio::runtime::dump::{Root, Trace};
use tokio::task::{id, Id};

static WANTED: AtomicBool = AtomicBool::new(false);
static WAKERS: Mutex<Vec<(Id, bool, Waker)>> = Mutex::new(Vec::new());
static TRACES: Mutex<Vec<(Id, Trace)>> = Mutex::new(Vec::new());

fn remember(is_root: bool, cx: &mut Context<'_>) {
    WAKERS.lock().unwrap().push((id(), is_root, cx.waker().clone()));
}

fn wake(which: impl Fn(Id, bool) -> bool) {
    let wakers = WAKERS.lock().unwrap();
    let chosen = wakers.iter().filter(|(id, is_root, _)| which(*id, *is_root));
    let chosen: Vec<_> = chosen.map(|(_, _, waker)| waker.clone()).collect();
    drop(wakers);
    chosen.into_iter().for_each(Waker::wake);
}

/// Asks all tasks for their traces.
pub(crate) fn ask() {
    WANTED.store(true, Relaxed);
    wake(|_, is_root| is_root);
}

pub(crate) fn count() -> usize {
    TRACES.lock().unwrap().len()
}

pub(crate) fn take() -> Vec<(Id, Trace)> {
    std::mem::take(&mut TRACES.lock().unwrap())
}

pub(crate) struct Traced<F>(Pin<Box<F>>);

pub(crate) fn traced<F: Future>(future: F) -> Root<Traced<F>> {
    Trace::root(Traced(Box::pin(future)))
}

impl<F: Future> Future for Traced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let own = id();
        let has = TRACES.lock().unwrap().iter().any(|(id, _)| *id == own);
        if !WANTED.load(Relaxed) || has {
            remember(true, cx);
            return self.0.as_mut().poll(cx);
        }
        // A set polls those of its children that were woken.
        wake(|id, is_root| id == own && !is_root);
        let (poll, trace) = Trace::capture(|| self.0.as_mut().poll(cx));
        TRACES.lock().unwrap().push((own, trace));
        poll
    }
}

/// A child of a set, which is to be in the trace.
pub(crate) struct Child<F>(Pin<Box<F>>);

pub(crate) fn child<F: Future>(future: F) -> Child<F> {
    Child(Box::pin(future))
}

impl<F: Future> Future for Child<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        remember(false, cx);
        self.0.as_mut().poll(cx)
    }
}
