//! What select!, join! and sets of futures look like: linked into futures.elf (make_shapes.sh). Its
//! crate is named futures_util.
#![allow(dead_code)]

extern crate futures_core;
extern crate tokio;

use futures_core::stream::Stream;
use futures_core::{Counted, Numbers};
use future::future::fuse::Fuse;
use future::maybe_done::MaybeDone;
use std::future::{poll_fn, Future};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

pub struct Leaf {
    pub number: u32,
}
impl Future for Leaf {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

pub mod stream {
    pub mod stream {
        pub mod next {
            pub struct Next<'a, S> {
                pub stream: &'a mut S,
            }
        }
        pub mod zip {
            pub struct Zip<A, B> {
                pub stream1: A,
                pub stream2: Option<B>,
            }
        }
        pub mod take_until {
            pub struct TakeUntil<S, F> {
                pub stream: S,
                pub future: Option<F>,
            }
        }
    }
    pub mod futures_unordered {
        pub mod task {
            use std::cell::UnsafeCell;
            use std::sync::atomic::{AtomicBool, AtomicPtr};
            use std::sync::Weak;

            pub struct Queue {
                pub waker: Option<std::task::Waker>,
            }
            pub struct Task<F> {
                pub future: UnsafeCell<Option<F>>,
                pub next_all: AtomicPtr<Task<F>>,
                pub len_all: UnsafeCell<usize>,
                pub ready_to_run_queue: Weak<Queue>,
                pub queued: AtomicBool,
            }
        }
        pub struct FuturesUnordered<F> {
            pub ready_to_run_queue: std::sync::Arc<task::Queue>,
            pub head_all: std::sync::atomic::AtomicPtr<task::Task<F>>,
        }
    }
}

pub mod future {
    pub mod future {
        pub mod fuse {
            pub struct Fuse<F> {
                pub inner: Option<F>,
            }
        }
    }
    pub mod maybe_done {
        pub enum MaybeDone<F> {
            Future(F),
            Done(u32),
            Gone,
        }
    }
    pub mod join_all {
        pub struct JoinAll {
            pub set: crate::stream::futures_unordered::FuturesUnordered<crate::Leaf>,
        }
    }
}
impl Future for future::join_all::JoinAll {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}
impl<F: Future + Unpin> Future for Fuse<F> {
    type Output = F::Output;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(self.inner.as_mut().unwrap()).poll(cx)
    }
}

type Two = stream::stream::zip::Zip<Numbers, Counted<Numbers>>;
type Until = stream::stream::take_until::TakeUntil<Numbers, tokio::sync::oneshot::Receiver>;

impl<S: Stream + Unpin> Future for stream::stream::next::Next<'_, S> {
    type Output = Option<S::Item>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        Pin::new(&mut *self.stream).poll_next(cx)
    }
}
impl Stream for Two {
    type Item = u32;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        let _ = Pin::new(&mut self.stream1).poll_next(cx);
        Pin::new(self.stream2.as_mut().unwrap()).poll_next(cx)
    }
}
impl Stream for Until {
    type Item = u32;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        let _ = Pin::new(self.future.as_mut().unwrap()).poll(cx);
        Pin::new(&mut self.stream).poll_next(cx)
    }
}

#[no_mangle]
pub fn streams(two: &mut Two, until: &mut Until, cx: &mut Context<'_>) {
    use stream::stream::next::Next;

    black_box(Pin::new(&mut Next { stream: two }).poll(cx).is_ready());
    black_box(Pin::new(&mut Next { stream: until }).poll(cx).is_ready());
}

/* futures_executor's */
pub struct LocalFutureObj {
    pub future: *mut dyn Future<Output = ()>,
    pub drop_fn: fn(*mut dyn Future<Output = ()>),
}
pub struct LocalPool {
    pub pool: stream::futures_unordered::FuturesUnordered<LocalFutureObj>,
    pub incoming: std::rc::Rc<std::cell::RefCell<Vec<LocalFutureObj>>>,
}

/* tokio::select! */
pub async fn select(a: Leaf, b: Leaf) {
    let mut disabled = 0u8;
    let mut futures = (a, b);
    let disabled = &mut disabled;
    let futures = &mut futures;
    poll_fn(|cx| {
        let (a, b) = &mut *futures;
        if *disabled & 1 == 0 && Pin::new(a).poll(cx).is_ready() {
            *disabled |= 1;
        }
        Pin::new(b).poll(cx)
    })
    .await
}

/* tokio::join! */
pub async fn join(a: Leaf, b: Leaf) {
    let mut futures = (MaybeDone::Future(a), MaybeDone::Future(b));
    let futures = &mut futures;
    poll_fn(|cx| {
        let (a, b) = &mut *futures;
        for arm in [a, b] {
            if let MaybeDone::Future(f) = arm {
                if Pin::new(f).poll(cx).is_ready() {
                    *arm = MaybeDone::Done(1);
                }
            }
        }
        Poll::<()>::Pending
    })
    .await
}

/* futures::select! */
pub async fn select_fused(mut a: Fuse<Leaf>, mut b: Fuse<Leaf>) -> u32 {
    enum __PrivResult<A, B> {
        _0(A),
        _1(B),
    }
    let result = poll_fn(|cx| {
        if Pin::new(&mut a).poll(cx).is_ready() {
            return Poll::Ready(__PrivResult::_0(1u32));
        }
        Pin::new(&mut b).poll(cx).map(|_| __PrivResult::_1(2u32))
    })
    .await;
    match result {
        __PrivResult::_0(x) | __PrivResult::_1(x) => x,
    }
}

#[no_mangle]
pub fn sets(
    a: future::join_all::JoinAll,
    leaves: [Leaf; 6],
    pool: &LocalPool,
    cx: &mut Context<'_>,
) {
    black_box(pool);
    let mut all = Box::pin(a);
    black_box(all.as_mut().poll(cx).is_ready());
    let [a, b, c, d, e, f] = leaves;
    black_box(Box::pin(select(a, b)).as_mut().poll(cx).is_ready());
    black_box(Box::pin(join(c, d)).as_mut().poll(cx).is_ready());
    let (e, f) = (Fuse { inner: Some(e) }, Fuse { inner: Some(f) });
    black_box(Box::pin(select_fused(e, f)).as_mut().poll(cx).is_ready());
}
