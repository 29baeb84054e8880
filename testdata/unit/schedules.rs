//! The schedule function of another crate than compio, with a member of the same name: a part of
//! compio.elf.
#![allow(dead_code)]

pub struct Schedule {
    pub waker: u64,
    pub runnables: *const u64,
}

#[no_mangle]
pub extern "C" fn schedules(schedule: &Schedule) -> u64 {
    schedule.waker
}
