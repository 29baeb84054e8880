//! Poll functions that the optimiser inlined, for the unit tests of dwarf/polled.c. Only its debug
//! info is read: see make_shapes.sh.
#![allow(dead_code)]

use std::future::{poll_fn, Future};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! future {
    ($name:ident) => {
        pub struct $name(u32);
        impl Future for $name {
            type Output = u32;
            #[inline(always)]
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
                Poll::Ready(black_box(self.0))
            }
        }
    };
}
future!(Leaf);
future!(Deep);
future!(Elsewhere);
future!(Unused);

/// Its poll function is none of a future.
pub struct Selector(u32);

impl Selector {
    #[inline(always)]
    pub fn poll(self: Pin<&mut Self>) -> bool {
        black_box(self.0) == 1
    }
}

/// The same with a name of its own: the one above is declared in its type.
pub trait Select {
    fn poll(self: Pin<&mut Self>) -> bool;
}
pub struct Chooser(u32);
impl Select for Chooser {
    #[inline(always)]
    fn poll(self: Pin<&mut Self>) -> bool {
        black_box(self.0) == 1
    }
}

/// Never anything but inlined.
pub async fn inner<T: Into<u32>>(n: T) -> u32 {
    Deep(n.into()).await
}

pub async fn outer(n: u32) -> u32 {
    let selected = Pin::new(&mut Selector(n)).poll();
    let chosen = Pin::new(&mut Chooser(n)).poll();
    let counted = poll_fn(|_| Poll::Ready(black_box(n))).await;
    Leaf(n).await + inner(n as u8).await + counted + selected as u32 + chosen as u32
}

pub async fn other(n: u32) -> u32 {
    Elsewhere(n).await
}

#[no_mangle]
pub fn inlined(cx: &mut Context<'_>) -> bool {
    let first: Pin<Box<dyn Future<Output = u32>>> = Box::pin(outer(1));
    let second: Pin<Box<dyn Future<Output = u32>>> = Box::pin(other(2));
    black_box(first).as_mut().poll(cx).is_ready() && black_box(second).as_mut().poll(cx).is_ready()
}
