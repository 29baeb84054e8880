//! Other tasks beside the one that is looked at.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{yield_now, JoinHandle};

use crate::record::Me;
use crate::together::arm;

static BEGUN: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

/// The lines of one instance among many of the same function. The others have no number.
pub async fn crowded(me: Option<Me>) -> u32 {
    let mut sum = more(me, 0);
    while more(me, sum) < 5 {
        sum += turn(more(me, 1)).await;
    }
    more(me, sum)
}

async fn turn(number: u32) -> u32 {
    yield_now().await;
    number
}

/// The number; 0 of others than the one instance until all is over.
#[inline(never)]
#[track_caller]
fn more(me: Option<Me>, number: u32) -> u32 {
    match me {
        Some(me) => {
            BEGUN.store(true, Ordering::Relaxed);
            me.pass_at(Location::caller(), number)
        }
        None if STOP.load(Ordering::Relaxed) => 5,
        None => 0,
    }
}

const OTHERS: usize = 4;

pub fn start() -> Vec<JoinHandle<u32>> {
    BEGUN.store(true, Ordering::Relaxed);
    start_later()
}

/// They begin when the instance with a number has.
pub fn start_later() -> Vec<JoinHandle<u32>> {
    (0..OTHERS).map(|_| tokio::spawn(join_in())).collect()
}

async fn join_in() -> u32 {
    while !BEGUN.load(Ordering::Relaxed) {
        yield_now().await;
    }
    crowded(None).await
}

pub async fn end(tasks: Vec<JoinHandle<u32>>) {
    STOP.store(true, Ordering::Relaxed);
    for task in tasks {
        let _ = task.await;
    }
}

/// Another task executes the lines of a function with a breakpoint.
pub async fn neighbour(me: Me) -> u32 {
    let other = tokio::spawn(arm(me.other(1)));
    let end = me.pass(other).await;
    me.add(end.unwrap_or(0), 0)
}
