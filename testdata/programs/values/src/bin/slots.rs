//! Stops at each `look`: behind it is what the variables have at the first stop there, the second one and so on; `-`
//! where one is not set. In the optimised program each has one place in the frame. See run_slots.py.

use std::hint::black_box;

#[inline(never)]
fn look(n: u32) {
    black_box(n);
}

/// Leaves other bytes where the frames of the next calls are.
#[inline(never)]
fn clobber() {
    black_box([0x5555_5555_5555_5555_u64; 200]);
}

/// Keeps no reference, which the compiler sees.
#[inline(never)]
fn increase(number: &mut u64) {
    *number += 1;
    clobber();
}

#[inline(never)]
fn rows(number: u64) -> [u64; 3] {
    [black_box(number); 3]
}

#[inline(never)]
fn late(number: u64) {
    let value: u64;
    look(1); // value: -
    if black_box(number) > 3 {
        value = black_box(number);
        look(2); // value: 5
    } else {
        value = 0;
    }
    look(3); // value: 5
    black_box(&value);
    look(4); // value: 5
}

#[inline(never)]
fn returned(number: u64) {
    let table: [u64; 3];
    look(5); // table: -
    table = rows(number);
    look(6); // table: [5,5,5]
    black_box(&table);
}

/// The compiler unrolls the loop.
#[inline(never)]
fn repeated() {
    for i in 0..2 {
        let each: u64;
        look(7); // each: - -
        each = black_box(i + 100);
        look(8); // each: 100 101
        black_box(&each);
    }
}

#[inline(never)]
fn looped(number: u64) {
    for i in 0..black_box(number) {
        let each: u64;
        look(9); // each: - - - - -
        each = black_box(i + 100);
        look(10); // each: 100 101 102 103 104
        black_box(&each);
    }
}

/// `other` may have the bytes of `value` before that is set.
#[inline(never)]
fn shared() {
    let value: u64;
    {
        let other = black_box(7_u64);
        black_box(&other);
        look(11); // value: - other: 7
        black_box(&other);
    }
    look(12); // value: -
    value = black_box(8);
    look(13); // value: 8
    black_box(&value);
}

/// In the loop the sum is in a register.
#[inline(never)]
fn promoted(number: u64) {
    let mut sum = 100;
    increase(&mut sum);
    for i in 0..number {
        sum += i;
        look(14); // sum: 101 102 104 107 111
    }
    look(15); // sum: 111
    increase(&mut sum);
    increase(&mut sum);
}

/// Only one of the stores is left.
#[inline(never)]
fn overwritten(number: u64) {
    let mut value = number;
    look(16); // value: 5
    value += 2;
    look(17); // value: 7
    black_box(&value);
    value = 9;
    look(18); // value: 9
    value += number;
    black_box(&value);
}

/// What is never read is not stored.
#[inline(never)]
#[allow(unused_assignments)]
fn forgotten(number: u64) {
    let mut count = number;
    increase(&mut count);
    count += 10;
    look(25); // count: 16
    clobber();
}

#[inline(always)]
fn within(number: u64) {
    let inner: u64;
    look(19); // inner: - - -
    inner = black_box(number + 20);
    look(20); // inner: 20 21 22
    black_box(&inner);
}

#[inline(never)]
fn around(number: u64) {
    within(0);
    for i in 1..number {
        within(i);
    }
}

/// Nothing is in doubt.
#[inline(never)]
fn plain(number: u64) {
    let first = black_box(number) + 1;
    let second = if first > 3 {
        black_box(11_u64)
    } else {
        black_box(12)
    };
    look(21); // number: 5 first: 6 second: 11
    for round in 0..black_box(2_u64) {
        look(22); // first: 6 6 second: 11 11 round: 0 1
        black_box((&first, &round));
    }
    if let Some(third) = black_box(Some(first)) {
        look(23); // second: 11 third: 6
        black_box((&third, &number));
    }
    black_box((&first, &second));
    look(24); // number: 5 first: 6 second: 11
}

fn main() {
    let number = black_box(5);
    for run in [
        (|_| shared()) as fn(u64),
        late,
        returned,
        |_| repeated(),
        looped,
        promoted,
        overwritten,
        forgotten,
        |_| around(3),
        plain,
    ] {
        clobber();
        run(number);
    }
}
