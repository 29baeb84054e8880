//! Statics for the unit tests of dwarf/statics.c. Only its debug info is read: see make_shapes.sh.
#![allow(dead_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

pub mod config {
    pub struct Config {
        pub limit: u32,
    }
    pub static LIMIT: u32 = 7;
    pub static CONFIG: Config = Config { limit: 5 };
    /// Nobody uses it: the linker drops it.
    pub static UNUSED: u32 = 9;
}

pub mod other {
    pub static LIMIT: u64 = 8;
}

pub struct Ids;

impl Ids {
    fn next() -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

thread_local! {
    pub static OWN: Cell<u64> = const { Cell::new(7) };
    pub static LIMIT: Cell<u64> = const { Cell::new(7) };
}

#[no_mangle]
pub fn statics() -> u64 {
    let places = [
        &config::LIMIT as *const u32 as usize,
        &config::CONFIG as *const config::Config as usize,
        &other::LIMIT as *const u64 as usize,
        OWN.with(|own| own.as_ptr() as usize),
        LIMIT.with(|own| own.as_ptr() as usize),
    ];
    places.iter().map(|p| *p as u64).sum::<u64>() + Ids::next()
}
