//! The library of spread.rs: it alone polls its futures.
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

pub struct Wrap<T> {
    pub inner: T,
}
impl<T> Future for Wrap<T> {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

pub struct Plain<T> {
    pub inner: T,
}

#[no_mangle]
pub fn polls(mut wrap: Wrap<u32>, cx: &mut Context<'_>) {
    black_box(Pin::new(&mut wrap).poll(cx).is_ready());
}
