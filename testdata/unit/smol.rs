//! Futures around a pipe of piper, around halves of a stream of async-io, and beside a lock that has a waker of
//! no known crate: made into smol.elf by make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

extern crate async_io;
extern crate piper;

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_io::reactor::ReadableOwned;
use async_io::Async;

pub struct Socket(pub i32);

pub struct Stream {
    pub inner: Arc<Async<Socket>>,
    pub readable: Option<ReadableOwned<Socket>>,
}
pub struct ReadHalf(pub Arc<Mutex<Stream>>);

/// Polls `readable` of the stream that both halves share.
pub struct Halves<'a> {
    pub reader: &'a mut ReadHalf,
}
pub struct Reads {
    pub reader: Option<piper::Reader>,
}
pub struct Writes {
    pub writer: piper::Writer,
}

/// Data behind a lock of async-io's crate: what is in it is not that crate's.
pub struct Slot {
    pub stored: Option<Waker>,
}
pub struct Leaf {
    pub number: u32,
}
pub struct Beside {
    pub leaf: Leaf,
    pub lock: async_io::Guarded<Slot>,
    pub own: async_io::Listed,
}

macro_rules! futures {
    ($($name:ty),*) => {
        $(impl Future for $name {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                black_box(Poll::Pending)
            }
        })*
    };
}
futures!(Halves<'_>, Reads, Writes, Leaf);

impl Future for Beside {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let _ = Pin::new(&mut self.leaf).poll(cx);
        black_box(Poll::Pending)
    }
}

#[no_mangle]
pub fn smol(
    a: &mut Halves<'_>,
    b: &mut Reads,
    c: &mut Writes,
    d: &mut Beside,
    e: &mut ReadableOwned<Socket>,
    cx: &mut Context<'_>,
) {
    black_box(Pin::new(a).poll(cx).is_ready());
    black_box(Pin::new(b).poll(cx).is_ready());
    black_box(Pin::new(c).poll(cx).is_ready());
    black_box(Pin::new(d).poll(cx).is_ready());
    black_box(unsafe { Pin::new_unchecked(e) }.poll(cx).is_ready());
}
