//! What a stream looks like: linked into futures.elf (make_shapes.sh). Its crate is named
//! futures_core, which declares the trait.
#![allow(dead_code)]

use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

pub mod stream {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    pub trait Stream {
        type Item;
        fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>>;
    }
}

pub struct Numbers {
    pub next: u32,
}
impl stream::Stream for Numbers {
    type Item = u32;
    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u32>> {
        black_box(Poll::Pending)
    }
}

pub struct Counted<S> {
    pub inner: S,
    pub number: u64,
}
impl<S: stream::Stream + Unpin> stream::Stream for Counted<S> {
    type Item = S::Item;
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        Pin::new(&mut self.inner).poll_next(cx)
    }
}
