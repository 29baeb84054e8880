//! The waits of async-io 2 that runtimes/leaves/async_io.c reads: a part of smol.elf.
#![allow(dead_code)]

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::task::Waker;

/// Contents of another crate, as in a lock.
pub struct Guarded<T> {
    pub state: usize,
    pub data: UnsafeCell<T>,
}
/// The crate's own waker.
pub struct Listed {
    pub waker: Option<Waker>,
}
pub struct Async<T> {
    pub source: Arc<reactor::Source>,
    pub io: Option<T>,
}

pub mod reactor {
    use std::future::Future;
    use std::hint::black_box;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};

    use super::Async;

    pub struct Slab {
        pub entries: Vec<Entry>,
        pub len: usize,
    }
    pub enum Entry {
        Vacant(usize),
        Occupied(Option<Waker>),
    }
    pub struct Direction {
        pub tick: usize,
        pub ticks: Option<(usize, usize)>,
        pub waker: Option<Waker>,
        pub wakers: Slab,
    }
    pub struct Registration {
        pub raw: i32,
    }
    pub struct Source {
        pub registration: Registration,
        pub key: usize,
        pub state: Mutex<[Direction; 2]>,
    }
    pub struct Ready<H, T> {
        pub handle: H,
        pub dir: usize,
        pub ticks: Option<(usize, usize)>,
        pub index: Option<usize>,
        pub of: Option<T>,
    }
    pub struct ReadableOwned<T>(pub Ready<Arc<Async<T>>, T>);

    impl<H, T> Future for Ready<H, T> {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            black_box(Poll::Pending)
        }
    }
    impl<T: Unpin> Future for ReadableOwned<T> {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let _ = unsafe { Pin::new_unchecked(&mut self.0) }.poll(cx);
            black_box(Poll::Pending)
        }
    }
}
