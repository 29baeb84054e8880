//! A library that `host` loads: a plain function, an async one, and a generic one.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

#[inline(never)]
fn plain(n: u32) -> u32 {
    n + 1
}

#[inline(never)]
fn generic<T: Into<u64>>(n: T) -> u64 {
    n.into() + 2
}

async fn ready(n: u32) -> u32 {
    n * 2
}

async fn work(n: u32) -> u32 {
    let twice = ready(n).await;
    plain(twice)
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}

#[no_mangle]
pub extern "C" fn plugin(n: u32) -> u64 {
    generic(block_on(work(n)))
}
