//! A function with a frame above one page: rustc touches each page of it in the prologue (inline
//! stack probes), and debug info gives its frame base as a distance from the CFA, where other
//! functions have the stack or frame pointer. For the unit tests of variables: see make_shapes.sh.

pub struct Buffer {
    bytes: [u8; 8192],
}

#[no_mangle]
pub fn probed(seed: u8) -> u8 {
    let buffer = Buffer { bytes: [seed; 8192] };
    let last = buffer.bytes[usize::from(seed) + 4096];
    last
}
