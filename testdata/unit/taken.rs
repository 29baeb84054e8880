//! Variables of optimised coroutines whose address is taken, so that they are in the frame of a poll: see
//! resumed.rs. Optimised code leaves no place of `__awaitee`. For the unit tests of dwarf/frame: see
//! make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub struct Nap(u32);

impl Future for Nap {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        black_box(Poll::Pending)
    }
}

pub struct Sleep(u64);

impl Future for Sleep {
    type Output = u64;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u64> {
        black_box(Poll::Pending)
    }
}

/// Each variable is dead at the next await.
pub async fn lines(number: u32) -> u32 {
    let before = number + 2;
    black_box(&before);
    Nap(1).await;
    let between = number + 3;
    black_box(&between);
    Sleep(2).await;
    let after = number + 4;
    black_box(&after);
    Nap(3).await;
    let last = number + 5;
    black_box(&last);
    last
}

#[no_mangle]
pub fn taken() -> u32 {
    let mut context = Context::from_waker(Waker::noop());
    let mut future: Pin<Box<dyn Future<Output = u32>>> = black_box(Box::pin(lines(black_box(1))));

    u32::from(future.as_mut().poll(&mut context).is_ready())
}
