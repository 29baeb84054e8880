//! Tasks of async-task and what their schedule functions refer to, as runtimes/async_executor/executor_scan.c reads
//! them: made into executor.elf by make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

extern crate async_executor;

use std::sync::atomic::Ordering::Relaxed;

use async_executor::Schedule;

/// As that of async-task.
pub struct Header {
    pub state: u64,
    pub vtable: u64,
}

#[no_mangle]
pub fn executor(header: &Header, schedule: &Schedule) -> u64 {
    header.state + schedule.state.ticks.load(Relaxed) as u64
}
