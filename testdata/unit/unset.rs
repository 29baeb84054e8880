//! Variables that are not set, or have nothing any more, at a line in their scope. For the unit tests of
//! dwarf/frame, which read the code, too: see make_shapes.sh.

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

/// Not `Copy`, and needs no drop.
pub struct Ticket {
    id: u32,
    seat: u32,
}

pub struct Guard([u32; 8]);

impl Drop for Guard {
    fn drop(&mut self) {
        look(self.0[0]);
    }
}

#[inline(never)]
fn look(_: u32) {}

#[inline(never)]
fn borrow(_: &Guard) {}

#[inline(never)]
fn borrow_number(_: &u32) {}

#[inline(never)]
fn redeem(ticket: Ticket) -> u32 {
    ticket.id ^ ticket.seat
}

#[inline(never)]
fn give(_: Guard) {}

/// Its frame is larger than a page.
pub fn large(number: u32) {
    let pages = [number; 2048];
    let value;
    look(1); // large: before
    value = pages[3];
    look(value); // large: behind
}

pub fn late(number: u32) {
    let value;
    look(1); // late: before
    if number > 3 {
        value = number;
        look(2); // late: in a branch
    } else {
        value = 0;
    }
    look(value); // late: behind
}

/// The four bytes before the table are those of a number that is borrowed.
pub fn beside(number: u32) {
    for small in 0..number {
        borrow_number(&small);
        let table: Guard;
        look(1); // beside: before
        table = Guard([number; 8]);
        look(2); // beside: behind
    }
}

/// In edition 2024 the scope of `x` and `y` is the whole function.
pub fn chain(number: Option<u32>) {
    look(1); // chain: before
    if let Some(x) = number
        && x > 3
    {
        look(x); // chain: inside
    }
    look(2); // chain: behind
    if let Some(y) = number
        && y > 5
    {
        look(y);
    }
}

pub fn guarded(number: u32) {
    let guard = Guard([number; 8]);
    look(1); // guarded: before
    if number > 3 {
        give(guard);
    }
    look(2); // guarded: behind
}

pub fn owned(number: u32) {
    let guard = Guard([number; 8]);
    borrow(&guard);
    look(1); // owned: before
    give(guard);
    look(2); // owned: behind
}

pub async fn held(number: u32) -> u32 {
    let value;
    Nap(1).await;
    look(1); // held: before
    value = number ^ 1;
    look(2); // held: behind
    Nap(2).await;
    look(3); // held: resumed
    value
}

/// Both tickets have the same bytes of the coroutine.
pub async fn moved(number: u32) -> u32 {
    let ticket = Ticket { id: number, seat: 2 };
    Nap(1).await;
    look(1); // moved: before
    let mut sum = redeem(ticket);
    let other = Ticket { id: 8888, seat: 9999 };
    look(2); // moved: between
    Nap(2).await;
    look(3); // moved: behind
    sum ^= redeem(other);
    sum
}

#[inline(never)]
fn number(of: u32) -> u32 {
    look(of);
    of + 1
}

/// The compiler makes one variable of each pair.
#[inline(never)]
fn copied(argument: u32) -> u32 {
    let first: u32;
    let second = number(argument);
    look(1); // copied: before
    first = second;
    look(2); // copied: behind
    let third = number(argument);
    let fourth: u32;
    look(3); // copied: inner
    fourth = third;
    look(4);
    first + fourth
}

#[unsafe(no_mangle)]
pub fn unset() -> u32 {
    let mut context = Context::from_waker(Waker::noop());
    let mut done = copied(1);

    large(1);
    late(1);
    chain(Some(1));
    guarded(1);
    owned(1);
    beside(1);
    done += u32::from(Box::pin(held(1)).as_mut().poll(&mut context).is_ready());
    done += u32::from(Box::pin(moved(1)).as_mut().poll(&mut context).is_ready());
    done
}
