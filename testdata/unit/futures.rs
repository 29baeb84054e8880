//! Futures for the unit tests of runtimes/. Its crate is named tokio, and its types have the names
//! and the members of tokio that asyncdbg reads, and nothing else. Only its debug info is read: see
//! make_shapes.sh.
#![allow(dead_code)]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! future {
    ($($type:ty),*) => {
        $(impl Future for $type {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                Poll::Pending
            }
        })*
    };
}

pub mod sync {
    pub mod batch_semaphore {
        use std::ptr::NonNull;
        use std::task::Waker;

        pub struct Pointers {
            pub prev: Option<NonNull<Waiter>>,
            pub next: Option<NonNull<Waiter>>,
        }
        pub struct Waiter {
            pub state: usize,
            pub waker: Option<Waker>,
            pub pointers: Pointers,
        }
        pub struct Queue {
            pub head: Option<NonNull<Waiter>>,
            pub tail: Option<NonNull<Waiter>>,
        }
        pub struct Waitlist {
            pub queue: Queue,
            pub closed: bool,
        }
        pub struct Semaphore {
            pub permits: usize,
            pub waiters: Waitlist,
        }
        pub struct Acquire {
            pub node: Waiter,
            pub semaphore: &'static Semaphore,
            pub num_permits: usize,
            pub queued: bool,
        }
    }
    pub mod oneshot {
        use std::task::Waker;

        pub struct Inner {
            pub state: usize,
            pub value: Option<u32>,
            pub tx_task: Option<Waker>,
            pub rx_task: Option<Waker>,
        }
        pub struct Receiver {
            pub inner: Option<&'static Inner>,
        }
    }
}

pub mod time {
    pub mod sleep {
        pub struct Sleep {
            pub deadline: std::time::Instant,
            pub timer: Option<u64>,
        }
    }
}

pub struct Wrapper {
    pub receiver: sync::oneshot::Receiver,
    pub number: u64,
}
pub struct Both {
    pub first: sync::oneshot::Receiver,
    pub second: sync::batch_semaphore::Acquire,
}
pub enum Stage {
    Begin { receiver: sync::oneshot::Receiver },
    End { permit: sync::batch_semaphore::Acquire },
}
pub struct Ring {
    pub next: Option<Pin<Box<Ring>>>,
}
pub struct Children {
    pub optional: Option<Wrapper>,
    pub many: Vec<Wrapper>,
    pub object: Pin<Box<dyn Future<Output = ()>>>,
    pub own: Pin<Box<Ring>>,
}
future!(
    sync::oneshot::Receiver,
    sync::batch_semaphore::Acquire,
    time::sleep::Sleep,
    Wrapper,
    Both,
    Stage,
    Ring,
    Children
);

pub async fn outer(receiver: sync::oneshot::Receiver, number: u32) -> u32 {
    receiver.await;
    number
}

#[no_mangle]
pub fn futures(a: &mut Children, b: Both, c: &mut Stage, d: &mut time::sleep::Sleep, cx: &mut Context<'_>) {
    let mut called = Box::pin(outer(b.first, 1));
    black_box(called.as_mut().poll(cx).is_ready());
    black_box(a.object.as_mut().poll(cx).is_ready());
    black_box(a.own.as_mut().poll(cx).is_ready());
    for each in [&mut a.many[0], a.optional.as_mut().unwrap()] {
        black_box(Pin::new(each).poll(cx).is_ready());
    }
    black_box(Pin::new(c).poll(cx).is_ready());
    black_box(Pin::new(d).poll(cx).is_ready());
    black_box(b.second.queued);
}
