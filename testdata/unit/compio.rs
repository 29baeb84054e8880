//! Schedule functions of tasks of compio and of others, and a task's header, as runtimes/compio/compio_unlisted.c
//! reads them: made into compio.elf by make_shapes.sh. Only its debug info is read.
#![allow(dead_code)]

pub struct Queue {
    pub runnables: u64,
}

/// As that of async-task.
pub struct Header {
    pub vtable: u64,
    pub state: u64,
}

pub struct Future {
    pub number: u64,
}

/* 0.9.5 to 0.11 */
pub struct TaskQueue {
    pub local_queue: *const Queue,
}
pub struct OfScheduler {
    pub waker: u64,
    pub task_queue: TaskQueue,
}

/* 0.6 to 0.9.0 */
pub struct OfRuntime {
    pub waker: u64,
    pub runnables: *const Queue,
}

/* 0.5 */
pub struct OfOldRuntime {
    pub local_runnables: *const Queue,
    pub waker: u64,
}

/// Of a version that is not known.
pub struct OfUnknown {
    pub waker: u64,
    pub queue: *const Queue,
}

#[no_mangle]
pub extern "C" fn compio(
    header: &Header,
    future: &Future,
    scheduler: &OfScheduler,
    runtime: &OfRuntime,
    old: &OfOldRuntime,
    unknown: &OfUnknown,
) -> u64 {
    header.state
        + future.number
        + scheduler.waker
        + runtime.waker
        + old.waker
        + unknown.waker
}
