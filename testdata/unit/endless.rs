//! Futures that never end, for the unit tests of dwarf/polled.c: their poll functions return nothing
//! that has a size, and DWARF gives them no return type. Only its debug info is read: see
//! make_shapes.sh.
#![allow(dead_code)]

use std::convert::Infallible;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

pub struct Server(u32);

impl Server {
    pub async fn run(self) -> ! {
        loop {
            black_box(self.0);
            std::future::pending::<()>().await;
        }
    }
}

pub struct Forever(u32);

impl Future for Forever {
    type Output = Infallible;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Infallible> {
        black_box(self.0);
        Poll::Pending
    }
}

/// Its poll function is none of a future, and returns nothing either.
pub struct Selector(u32);

impl Selector {
    pub fn poll(&mut self) {
        black_box(self.0);
    }
}

#[no_mangle]
pub extern "C" fn endless() {
    let mut cx = Context::from_waker(Waker::noop());
    let mut server = Box::pin(Server(1).run());
    let mut forever = Box::pin(Forever(2));
    let _ = server.as_mut().poll(&mut cx);
    let _ = forever.as_mut().poll(&mut cx);
    Selector(3).poll();
}
