//! The State of async-executor 1.13 as far as runtimes/async_executor/executor_scan.c reads it: a part of executor.elf.
#![allow(dead_code)]

extern crate slab;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::task::Waker;

pub struct State {
    pub active: Mutex<slab::Slab<Waker>>,
    pub ticks: AtomicUsize,
}
pub struct Schedule {
    pub state: Arc<State>,
}
