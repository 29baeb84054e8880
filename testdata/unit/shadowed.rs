//! A variable that hides another one of its name, where the compiler has left no place for it. For
//! the unit tests of dwarf/frame: see make_shapes.sh. Only its debug info is read.

/// Without a type of its own the program would seem to be built with line tables only.
pub struct Pair {
    pub first: u64,
    pub second: u64,
}

#[inline(never)]
fn look(value: u64) {
    std::hint::black_box(value);
}

#[no_mangle]
pub fn shadowed(number: u64) -> u64 {
    let value = number;
    look(value);
    {
        let value = number.wrapping_mul(number) ^ 0x55;
        look(value);
        look(number);
    }
    look(value + 1);
    std::hint::black_box(Pair { first: value, second: 1 }).first
}
