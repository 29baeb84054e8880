//! The lock and the futures of futures-util that runtimes/leaves/futures.c reads: made into futures_util.elf
//! by make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

use std::future::Future;
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

pub mod lock {
    pub mod mutex {
        use std::future::Future;
        use std::hint::black_box;
        use std::pin::Pin;
        use std::task::{Context, Poll, Waker};

        pub enum Waiter {
            Waiting(Waker),
            Woken,
        }
        pub enum Entry {
            Vacant(usize),
            Occupied(Waiter),
        }
        pub struct Slab {
            pub entries: Vec<Entry>,
            pub len: usize,
        }
        pub struct Guarded {
            pub data: Slab,
        }
        pub struct Mutex<T> {
            pub state: usize,
            pub waiters: Guarded,
            pub value: T,
        }
        pub struct MutexLockFuture<'a, T> {
            pub mutex: Option<&'a Mutex<T>>,
            pub wait_key: usize,
        }
        impl<T> Future for MutexLockFuture<'_, T> {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                black_box(Poll::Pending)
            }
        }
    }
    pub mod bilock {
        use std::cell::UnsafeCell;
        use std::future::Future;
        use std::hint::black_box;
        use std::pin::Pin;
        use std::sync::atomic::AtomicPtr;
        use std::sync::Arc;
        use std::task::{Context, Poll, Waker};

        pub struct Inner<T> {
            pub state: AtomicPtr<Waker>,
            pub value: Option<UnsafeCell<T>>,
        }
        pub struct BiLock<T> {
            pub arc: Arc<Inner<T>>,
        }
        pub struct BiLockAcquire<'a, T> {
            pub bilock: &'a BiLock<T>,
        }
        impl<T> Future for BiLockAcquire<'_, T> {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                black_box(Poll::Pending)
            }
        }
    }
}

pub mod io {
    pub mod split {
        pub struct ReadHalf<T> {
            pub handle: crate::lock::bilock::BiLock<T>,
        }
    }
}
pub struct Socket {
    pub waker: std::task::Waker,
}
pub struct Read<'a> {
    pub half: &'a mut io::split::ReadHalf<Socket>,
}
impl Future for Read<'_> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

pub mod abortable {
    use std::future::Future;
    use std::hint::black_box;
    use std::pin::Pin;
    use std::sync::atomic::AtomicBool;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    pub struct AbortInner {
        pub waker: Option<std::task::Waker>,
        pub aborted: AtomicBool,
    }
    pub struct Abortable<T> {
        pub task: T,
        pub inner: Arc<AbortInner>,
    }
    impl<T: Future + Unpin> Future for Abortable<T> {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let _ = Pin::new(&mut self.task).poll(cx);
            black_box(Poll::Pending)
        }
    }
}

/* up to 0.3.5 */
pub mod future {
    pub mod abortable {
        use std::future::Future;
        use std::hint::black_box;
        use std::pin::Pin;
        use std::sync::atomic::AtomicBool;
        use std::sync::Arc;
        use std::task::{Context, Poll};

        pub struct AbortInner {
            pub waker: Option<std::task::Waker>,
            pub cancel: AtomicBool,
        }
        pub struct Abortable<T> {
            pub future: T,
            pub inner: Arc<AbortInner>,
        }
        impl<T: Future + Unpin> Future for Abortable<T> {
            type Output = ();
            fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let _ = Pin::new(&mut self.future).poll(cx);
                black_box(Poll::Pending)
            }
        }
    }
}

#[no_mangle]
pub fn futures_util(
    a: &mut lock::bilock::BiLockAcquire<'_, u32>,
    b: &mut abortable::Abortable<Leaf>,
    c: &mut future::abortable::Abortable<Leaf>,
    d: &mut Read<'_>,
    e: &mut lock::mutex::MutexLockFuture<'_, u32>,
    cx: &mut Context<'_>,
) {
    black_box(Pin::new(a).poll(cx).is_ready());
    black_box(Pin::new(b).poll(cx).is_ready());
    black_box(Pin::new(c).poll(cx).is_ready());
    black_box(Pin::new(d).poll(cx).is_ready());
    black_box(Pin::new(e).poll(cx).is_ready());
}
