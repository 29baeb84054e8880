//! The pipe of the crate piper 0.2 that runtimes/leaves/piper.c reads: a part of smol.elf.
#![allow(dead_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::Arc;
use std::task::Waker;

pub struct AtomicWaker {
    pub state: AtomicUsize,
    pub waker: UnsafeCell<Option<Waker>>,
}
pub struct Pipe {
    pub head: AtomicUsize,
    pub tail: AtomicUsize,
    pub reader: AtomicWaker,
    pub writer: AtomicWaker,
    pub closed: AtomicBool,
    pub buffer: *mut u8,
    pub cap: usize,
}
pub struct Reader {
    pub inner: Arc<Pipe>,
    pub head: usize,
    pub tail: usize,
}
pub struct Writer {
    pub inner: Arc<Pipe>,
    pub head: usize,
    pub tail: usize,
    pub zeroed_until: usize,
}
