//! want::Giver: see hyper.rs.
#![allow(dead_code)]

use std::task::Waker;

pub struct TryLock {
    pub value: Option<Waker>,
}
pub struct Inner {
    pub state: u64,
    pub task: TryLock,
}
pub struct Giver {
    pub inner: &'static Inner,
}

#[no_mangle]
pub fn want(a: &mut Giver) -> u64 {
    a.inner.state
}
