//! Variables that optimised code keeps at one place of the frame in their whole scope. For the unit tests of
//! dwarf/frame, which read the code, too: see make_shapes.sh.

use std::hint::black_box;

#[inline(never)]
fn look(n: u32) {
    black_box(n);
}

#[inline(never)]
fn rows(n: u64) -> [u64; 6] {
    [black_box(n); 6]
}

#[inline(never)]
fn clobber() {
    black_box([0x5555_5555_5555_5555_u64; 20]);
}

/// Keeps no reference, which the compiler sees.
#[inline(never)]
fn increase(number: &mut u64) {
    *number += 1;
    look(0);
}

#[inline(never)]
fn late(number: u64) {
    let value: u64;
    look(1); // late: before
    if black_box(number) > 3 {
        look(2); // late: in a branch
        value = black_box(number);
        look(3); // late: set
    } else {
        value = 0;
    }
    look(4); // late: behind
    black_box(&value);
}

#[inline(never)]
fn repeated() {
    for i in 0..2 {
        let each: u64;
        look(1); // repeated: before
        each = black_box(i);
        look(2); // repeated: behind
        black_box(&each);
    }
}

/// Others have the bytes of `value` before it is set.
#[inline(never)]
fn shared() {
    let value: u64;
    {
        let other = black_box(7_u64);
        black_box(&other);
        look(1); // shared: before
        black_box(&other);
    }
    value = black_box(8);
    look(2); // shared: behind
    black_box(&value);
}

#[inline(never)]
fn promoted(number: u64) {
    let mut sum = 100;
    increase(&mut sum); // promoted: lent
    for i in 0..number {
        sum += i;
        look(1); // promoted: in the loop
    }
    look(2); // promoted: behind
    increase(&mut sum);
    increase(&mut sum);
}

#[inline(never)]
fn spent(number: u64) {
    let first = black_box(number);
    look(1); // spent: before
    black_box(&first);
    look(2); // spent: behind
}

/// A call puts what it returns where its first argument leads.
#[inline(never)]
fn returned(number: u64) {
    let table: [u64; 6];
    look(1); // returned: before
    table = rows(number);
    look(2); // returned: behind
    black_box(&table);
}

#[inline(always)]
fn within(number: u64) {
    let inner: u64;
    look(1); // within: before
    inner = black_box(number);
    look(2); // within: behind
    black_box(&inner);
}

#[inline(never)]
fn around(number: u64) {
    within(1);
    for i in 0..number {
        within(i);
    }
}

/// The jump by a table leads to each arm.
#[inline(never)]
fn chosen(number: u64) {
    let outcome: u64;
    match black_box(number) {
        0 => {
            look(1); // chosen: before
            outcome = black_box(5);
        }
        1 => outcome = black_box(6) + black_box(1),
        2 => outcome = black_box(7) * black_box(3),
        3 => {
            increase(&mut black_box(9));
            outcome = 10;
        }
        4 => {
            look(5);
            look(6);
            outcome = black_box(4);
        }
        _ => return,
    }
    look(2); // chosen: behind
    black_box(&outcome);
}

/// Each round jumps by one table, whose address is in a register from before the loop on.
#[inline(never)]
fn dispatched(number: u64) {
    let mut state = black_box(number);
    loop {
        let outcome: u64;
        match state {
            0 => {
                look(1); // dispatched: before
                outcome = black_box(5);
            }
            1 => outcome = black_box(6) + black_box(1),
            2 => outcome = black_box(7) * black_box(3),
            3 => {
                increase(&mut black_box(9));
                outcome = 10;
            }
            4 => {
                look(5);
                look(6);
                outcome = black_box(4);
            }
            _ => return,
        }
        look(2); // dispatched: behind
        black_box(&outcome);
        state = black_box(outcome);
    }
}

/// The closure is a variable whose block begins where that of its captures does, which are parts of it.
#[inline(never)]
fn captured(number: u64) {
    let (first, mut second) = (black_box(number), black_box(number));
    let mut advance = move || {
        black_box((&first, &mut second));
        look(1); // captured: inside
        second += first;
        second < 40
    };
    while advance() {}
}

/// The only capture is all of the closure.
#[inline(never)]
fn captured_alone(number: u64) {
    let mut total = black_box(number);
    let mut advance = move || {
        black_box(&mut total);
        look(1); // captured_alone: inside
        total += 7;
        total < 40
    };
    while advance() {}
}

#[inline(never)]
fn advance_once(advance: &mut impl FnMut() -> bool) {
    advance();
}

/// The second capture, behind the first one in the closure, is in a register for the loop.
#[inline(never)]
fn captured_promoted(number: u64) {
    let (first, mut second) = (black_box(number), black_box(number));
    let mut advance = move || {
        let step = first;
        second += step;
        look(1); // captured_promoted: inside
        second < 40
    };
    advance_once(&mut advance);
    while advance() {}
    advance_once(&mut advance); // captured_promoted: behind
}

#[inline(never)]
fn consume(number: u64, list: [u64; 6]) -> u64 {
    list[black_box(number) as usize % 6]
}

/// LLVM gives both variables the same bytes, because the first one is not used behind the move.
#[inline(never)]
fn merged(number: u64) {
    let first = rows(number);
    let mut second: [u64; 6];
    look(1); // merged: before
    second = first;
    second[5] += 9;
    look(2); // merged: behind
    black_box(consume(number, second));
}

#[inline(never)]
fn merged_by_index(number: u64) {
    let earlier = rows(number);
    let mut later = earlier;
    later[black_box(number) as usize % 6] = 9;
    look(1); // merged_by_index: behind
    black_box(consume(number, later));
}

/// LLVM makes one variable of both, and the debug info has a place for the first one alone.
#[inline(never)]
fn early(number: u64) {
    let place: [u64; 6];
    let value = rows(number + 4);
    look(1); // early: before
    place = value;
    look(2); // early: behind
    black_box(&place);
}

/// The debug info has a place for the second one alone.
#[inline(never)]
fn early_outer(number: u64) {
    let value = rows(number + 1);
    let place: [u64; 6];
    look(1); // early_outer: before
    place = value;
    look(2); // early_outer: behind
    black_box(&place);
}

#[inline(always)]
fn make(number: u64) -> [u64; 6] {
    let made = rows(number);
    look(1); // make: inside
    made
}

#[inline(never)]
fn early_inlined(number: u64) {
    let place: [u64; 6];
    place = make(number);
    look(2); // early_inlined: behind
    black_box(&place);
}

/// Variables of the same type beside it are no reason for doubt.
#[inline(never)]
fn plain(number: u64) {
    let place = rows(number + 2);
    let value = [black_box(number); 6];
    look(1); // plain: behind
    black_box(&place);
    look(black_box(value[3]) as u32);
    black_box(&place);
    let other = rows(number + 3);
    look(2); // plain: other
    black_box(&other);
}

/// The code stores the address of another variable that has the same bytes, and nothing reads the sum again.
#[inline(never)]
fn forgotten(number: u64) {
    {
        let other = [black_box(number); 4];
        black_box(&other);
        clobber();
    }
    for _ in 0..2 {
        let mut sums = [black_box(number); 4];
        increase(&mut sums[1]);
        sums[1] += 3;
        look(1); // forgotten: behind
    }
}

/// Both variables are one from the beginning.
#[inline(never)]
fn copied(number: u64) {
    let first: u64;
    let second = black_box(number);
    look(1); // copied: before
    first = second;
    look(2); // copied: behind
    look(black_box(first + second) as u32);
}

#[inline(never)]
fn copied_outer(number: u64) {
    let second = black_box(number);
    let first: u64;
    look(1); // copied_outer: before
    first = second;
    look(2); // copied_outer: behind
    look(black_box(first * second) as u32);
}

#[inline(never)]
fn copied_argument(number: u64) {
    let copy: u64;
    look(1); // copied_argument: before
    copy = number;
    look(2); // copied_argument: behind
    look(black_box(copy + 5) as u32);
}

/// A value of its own in a register.
#[inline(never)]
fn single(number: u64) {
    let value = black_box(number);
    look(1); // single: behind
    let other = black_box(value + 1);
    look(2);
    look(black_box(value + other) as u32);
}

#[unsafe(no_mangle)]
pub fn slots() {
    late(1);
    repeated();
    shared();
    promoted(4);
    spent(1);
    returned(1);
    around(2);
    chosen(3);
    dispatched(3);
    captured(3);
    captured_alone(3);
    captured_promoted(3);
    merged(3);
    merged_by_index(4);
    let number = black_box(5);
    early(number);
    early_outer(number);
    early_inlined(number);
    plain(number);
    forgotten(number);
    copied(number);
    copied_outer(number);
    copied_argument(number);
    single(number);
}
