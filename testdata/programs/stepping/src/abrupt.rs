//! Threads that meet at a line, programs that end in the middle of one, and an instance that is lost.

use std::future::{poll_fn, Future};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::process::exit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll};
use std::thread;

use truth::say;

use crate::record::{tell, Me};
use crate::together::loser;
use crate::work::{forever, yields};

const THREADS: u32 = 4;

static TURN: AtomicU32 = AtomicU32::new(0);

/// As many tasks as workers, which come to each line at the same moment.
pub async fn meets(me: Me) -> u32 {
    let barrier = Arc::new(Barrier::new(THREADS as usize));
    let tasks: Vec<_> =
        (0..THREADS).map(|n| tokio::spawn(met(Me(me.0 + n), barrier.clone()))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.unwrap_or(0);
    }
    sum
}

pub async fn met(me: Me, barrier: Arc<Barrier>) -> u32 {
    let a = meet(me.at(), &barrier);
    let b = meet(me.at(), &barrier);
    let c = yields(me.at(), 2).await;
    let d = meet(me.at(), &barrier);
    me.add(a + b, c + d)
}

#[inline(never)]
fn meet(_: Me, barrier: &Barrier) -> u32 {
    barrier.wait().is_leader() as u32
}

/// The same with threads.
pub fn threads_meet(me: Me) {
    let barrier = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for n in 0..THREADS {
            let barrier = &barrier;
            scope.spawn(move || thread_met(Me(me.0 + n), barrier));
        }
    });
}

#[inline(never)]
fn thread_met(me: Me, barrier: &Barrier) -> u32 {
    let a = meet(me.at(), barrier);
    let b = meet(me.at(), barrier);
    let c = me.add(a, b);
    let d = meet(me.at(), barrier);
    me.add(c, d)
}

/// Its second line waits for another thread without a call, where that is inlined.
pub async fn spins(me: Me) -> u32 {
    thread::spawn(answer_turn);
    let a = me.add(1, 2);
    while TURN.fetch_max(1, Ordering::AcqRel) < 2 {}
    me.add(a, 3)
}

fn answer_turn() {
    while TURN.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Acquire).is_err() {
        thread::yield_now();
    }
}

/// The program ends in its second line.
pub async fn exits(me: Me) -> u32 {
    let a = me.add(1, 2);
    let b = leave(me.add(a, 3));
    me.add(a, b)
}

#[inline(never)]
fn leave(status: u32) -> u32 {
    say(&tell("exits"));
    exit(status as i32)
}

/// The same by another thread, while it is suspended there.
pub async fn exits_elsewhere(me: Me) -> u32 {
    let (sender, suspended) = std::sync::mpsc::channel();
    thread::spawn(move || suspended.recv().map(|()| leave(6)));
    let a = me.add(1, 2);
    forever(me.at(), Some(sender)).await;
    me.add(a, 1)
}

/// A suspended instance is forgotten, and another one of its function uses its memory.
pub async fn forgets(me: Me) {
    let mut place = Box::new(MaybeUninit::uninit());
    poll_fn(|cx| {
        poll_in(place.write(loser(me, None)), cx);
        let other = place.write(loser(Me(1), None));
        poll_in(other, cx);
        poll_in(other, cx);
        Poll::Ready(())
    })
    .await
}

#[inline(never)]
fn poll_in<F: Future>(future: &mut F, cx: &mut Context<'_>) {
    // It is in a box, which nothing is moved out of.
    let _ = unsafe { Pin::new_unchecked(future) }.poll(cx);
}
