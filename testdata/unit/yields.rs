//! A generator whose variables are not set, moved out or behind their blocks at its marks: see run_yields.py.
#![feature(gen_blocks)]
#![allow(unused, internal_features)]
use std::hint::black_box;

struct Ticket {
    id: u64,
    seat: u64,
}

#[inline(never)]
fn mark(n: u32) {
    black_box(n);
}

/// Leaves other bytes where the frames of the next calls are.
#[inline(never)]
fn clobber() {
    black_box([0x5555_5555_5555_5555_u64; 400]);
}

#[inline(never)]
fn get(n: u64) -> Option<u64> {
    black_box((n > 2).then_some(n + 2))
}

#[inline(never)]
fn consume(mut ticket: Ticket) {
    ticket.id = 999;
    black_box(&mut ticket);
}

gen fn numbers(n: u64) -> u64 {
    mark(0);
    let late: u64;
    let ticket = Ticket { id: n, seat: 7 };
    black_box(&ticket);
    mark(1);
    yield 1;
    mark(2);
    let inner = black_box(n * 2);
    late = black_box(n + 1);
    mark(3);
    consume(ticket);
    if let Some(z) = get(n) && z > 3 {
        mark(4);
        yield 2;
        mark(5);
        black_box(z);
    }
    mark(6);
    yield inner + late;
    mark(7);
    black_box((inner, late));
}

fn main() {
    println!("ready");
    let mut numbers = numbers(black_box(5)).into_iter();
    while numbers.next().is_some() {
        clobber();
    }
}
