//! Cells that are set once, for the unit tests of dwarf/values/show_sync.c. Only its debug info and
//! its data are read: see make_shapes.sh.
#![allow(dead_code)]

use std::sync::{Once, OnceLock};

pub struct Cells {
    pub once: Once,
    pub lock: OnceLock<u32>,
}

/// A static of std, which has a symbol and no debug info there.
#[export_name = "_ZN3std2rt7cleanup7CLEANUP17h0123456789abcdefE"]
pub static CLEANUP: Once = Once::new();

#[no_mangle]
pub fn once(cells: &Cells) -> u64 {
    cells.lock.get().copied().map_or(0, u64::from) + std::ptr::addr_of!(CLEANUP) as u64
}
