//! Futures that poll another one in various ways, or do not poll it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::noop_waker_ref;

/// Polls with the waker that it is polled with.
pub struct Delegate<F>(pub F);

impl<F: Future + Unpin> Future for Delegate<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

/// Polls with a waker that does nothing.
pub struct Muted<F>(pub F);

impl<F: Future + Unpin> Future for Muted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(&mut Context::from_waker(noop_waker_ref()))
    }
}

struct Forward {
    task: Waker,
}

impl Wake for Forward {
    fn wake(self: Arc<Self>) {
        self.task.wake_by_ref();
    }
}

/// Polls with a waker of its own, which wakes the task.
pub struct Forwarded<F>(pub F);

impl<F: Future + Unpin> Future for Forwarded<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::new(Forward { task: context.waker().clone() }));
        Pin::new(&mut self.0).poll(&mut Context::from_waker(&waker))
    }
}

/// Does not poll what it holds: another task did before.
pub struct Kept<F> {
    inner: F,
    polled: u32,
}

impl<F> Kept<F> {
    pub fn new(inner: F) -> Kept<F> {
        Kept { inner, polled: 0 }
    }
}

impl<F: Unpin> Future for Kept<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.polled += 1;
        std::hint::black_box(&mut self.inner);
        Poll::Pending
    }
}

/// Stores no waker anywhere.
#[derive(Default)]
pub struct Silent {
    polled: u32,
}

impl Future for Silent {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.polled += 1;
        Poll::Pending
    }
}
