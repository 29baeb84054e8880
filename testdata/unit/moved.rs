//! Variables of a coroutine that were or can be moved, for the unit tests of runtimes/future/move_state.c.
//! Only its debug info is read: see make_shapes.sh.
#![allow(dead_code)]

use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Waker};

pub struct Parts {
    pub name: Box<u32>,
    pub number: u32,
}

pub struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {}
}

async fn nap() {
    std::future::pending::<()>().await
}

fn look<T>(_: &T) {}

pub async fn variables(away: bool) -> usize {
    let number = 5u32;
    let list = vec![Box::new(number)];
    let guard = Guard(number);
    let parts = Parts { name: Box::new(number), number };
    let pair = (Box::new(number), number);
    let option = Some(Box::new(number));
    let plain_box = Box::new(number);
    let box_of_boxes = Box::new(Box::new(number));
    let pinned = Box::pin(nap());
    let object: Box<dyn Future<Output = ()>> = Box::new(nap());
    let coroutine = nap();
    let wrapped = ManuallyDrop::new(Box::new(number));
    let closure = {
        let captured = Box::new(number);
        move || *captured
    };
    look(&(&list, &guard, &parts, &pair, &option, &plain_box, &box_of_boxes));
    look(&(&pinned, &object, &coroutine, &wrapped, &closure, &number));
    if away {
        drop(list);
        nap().await;
        return 1;
    }
    nap().await;
    list.len() + guard.0 as usize
}

async fn uses(lent: &mut (Box<u32>, u32)) {
    nap().await;
    lent.1 += 1;
}

/// The awaitee has a reference to one of two variables.
pub async fn borrows() -> u32 {
    let mut lent = (Box::new(1u32), 2u32);
    let kept = (Box::new(3u32), 4u32);
    let maybe: Option<Box<u32>> = None;
    let bytes: Vec<u8> = Vec::new();
    look(&(&lent, &kept, &maybe, &bytes));
    uses(&mut lent).await;
    lent.1 + kept.1 + maybe.map_or(0, |b| *b) + bytes.len() as u32
}

#[no_mangle]
pub extern "C" fn moved() {
    let mut lends: Pin<Box<dyn Future<Output = u32>>> = Box::pin(borrows());
    let _ = lends.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let mut future: Pin<Box<dyn Future<Output = usize>>> = Box::pin(variables(true));
    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}
