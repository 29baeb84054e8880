//! Variables of coroutines in the frame of a poll, which do not live across an await. For the unit
//! tests of dwarf/frame: see make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

pub struct Nap(u32);

impl Future for Nap {
    type Output = u32;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> std::task::Poll<u32> {
        std::task::Poll::Ready(self.0)
    }
}

pub struct Sleep(u64);

impl Future for Sleep {
    type Output = u64;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> std::task::Poll<u64> {
        std::task::Poll::Ready(self.0)
    }
}

#[inline(never)]
fn look(_: u32) {}

/// Each variable is dead at the next await. `kept` lives across them all.
pub async fn lines(number: u32) -> u32 {
    let kept = number + 1;
    let before = number + 2;
    look(before);
    Nap(1).await;
    let between = number + 3;
    look(between);
    Sleep(2).await;
    let after = number + 4;
    look(after);
    Nap(3).await;
    let last = number + 5;
    look(last);
    look(kept);
    last
}

/// The operand of an await and its end are on different lines, so lines do not tell which it is.
pub async fn spread(number: u32) -> u32 {
    let before = number + 2;
    look(before);
    Nap(
        number,
    )
    .await;
    let between = number + 3;
    look(between);
    Nap(3).await;
    number
}

pub async fn rounds(number: u32) -> u32 {
    let mut sum = 0;
    for round in 0..number {
        sum += round;
        sum += Nap(round).await;
        look(sum);
    }
    {
        let no_await = sum + 1;
        look(no_await);
    }
    sum
}

#[no_mangle]
pub fn resumed() -> u32 {
    let mut context = Context::from_waker(Waker::noop());
    let mut done = 0;

    done += u32::from(Box::pin(lines(1)).as_mut().poll(&mut context).is_ready());
    done += u32::from(Box::pin(spread(1)).as_mut().poll(&mut context).is_ready());
    done += u32::from(Box::pin(rounds(1)).as_mut().poll(&mut context).is_ready());
    done
}
