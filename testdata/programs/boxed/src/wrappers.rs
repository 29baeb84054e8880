//! Hand-written futures that do nothing but poll another one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Holds exactly one future, and something else.
pub struct Wrapper<F> {
    polls: u32,
    inner: F,
}

impl<F> Wrapper<F> {
    pub fn new(inner: F) -> Wrapper<F> {
        Wrapper { polls: 0, inner }
    }
}

impl<F: Future> Future for Wrapper<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `inner` is never moved out of a pinned Wrapper.
        unsafe {
            let this = self.get_unchecked_mut();
            this.polls += 1;
            Pin::new_unchecked(&mut this.inner).poll(cx)
        }
    }
}

/// Holds one future, or none.
pub struct Maybe<F> {
    inner: Option<F>,
}

impl<F> Maybe<F> {
    pub fn new(inner: Option<F>) -> Maybe<F> {
        Maybe { inner }
    }
}

impl<F: Future> Future for Maybe<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        // SAFETY: `inner` is never moved out of a pinned Maybe.
        let inner = unsafe { self.map_unchecked_mut(|maybe| &mut maybe.inner) };
        match inner.as_pin_mut() {
            Some(inner) => inner.poll(cx).map(Some),
            None => Poll::Ready(None),
        }
    }
}

/// One future or another.
pub enum Choice<A, B> {
    Left(A),
    Right(B),
}

impl<A: Future, B: Future<Output = A::Output>> Future for Choice<A, B> {
    type Output = A::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        // SAFETY: neither side is ever moved out of a pinned Choice.
        unsafe {
            match self.get_unchecked_mut() {
                Choice::Left(left) => Pin::new_unchecked(left).poll(cx),
                Choice::Right(right) => Pin::new_unchecked(right).poll(cx),
            }
        }
    }
}
