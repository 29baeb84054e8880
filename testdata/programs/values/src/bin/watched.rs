//! Variables that are watched from a stop up to their ends. Behind a `look` is what to watch, the values that it gets,
//! and why the watchpoint ends. See run_watch_ends.py.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

#[inline(never)]
fn look(n: u32) {
    black_box(n);
}

/// Leaves other bytes where the frames of the next calls are.
#[inline(never)]
fn clobber() {
    black_box([0x5555_5555_5555_5555_u64; 200]);
}

#[inline(never)]
fn increase(number: &mut u64) {
    *number += 1;
    black_box(&*number);
}

struct Nap(bool);

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        clobber();
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[inline(never)]
fn plain() {
    let mut number = black_box(1_u64);
    look(1); // number: 2 3 returned
    increase(&mut number);
    increase(&mut number);
    black_box(&number);
}

#[inline(never)]
fn recursive(depth: u64) {
    let mut number = black_box(depth);
    if depth == 2 {
        look(2); // number: 3 returned
    }
    if depth > 0 {
        recursive(depth - 1);
    }
    increase(&mut number);
    black_box(&number);
}

#[inline(never)]
fn block() {
    {
        let mut inner = black_box(5_u64);
        look(3); // inner: 6 scope
        increase(&mut inner);
        black_box(&inner);
    }
    {
        let mut other = black_box(50_u64);
        increase(&mut other);
        black_box(&other);
    }
    clobber();
}

#[inline(never)]
fn looped(rounds: u64) {
    for i in 0..black_box(rounds) {
        let mut each = black_box(i * 10);
        look(4); // each: 1 scope
        increase(&mut each);
        black_box(&each);
    }
}

#[inline(never)]
fn unwound() {
    let mut number = black_box(1_u64);
    look(5); // number: 2 gone
    increase(&mut number);
    if black_box(number) == 2 {
        std::panic::resume_unwind(Box::new(0));
    }
    black_box(&number);
}

async fn kept() {
    let mut number = black_box(1_u64);
    Nap(false).await;
    look(6); // number: 2 3 returned
    increase(&mut number);
    Nap(false).await;
    increase(&mut number);
}

async fn scoped() {
    {
        let mut inner = black_box(5_u64);
        Nap(false).await;
        look(7); // inner: 6 scope
        increase(&mut inner);
        Nap(false).await;
        black_box(&inner);
    }
    {
        let mut other = black_box(50_u64);
        Nap(false).await;
        increase(&mut other);
        Nap(false).await;
        black_box(&other);
    }
}

/// Nothing is awaited between the end of one scope and the begin of the next.
async fn adjoining() {
    Nap(false).await;
    {
        let mut inner = black_box(5_u64);
        look(8); // inner: 6 scope
        increase(&mut inner);
        Nap(false).await;
        black_box(&inner);
    }
    {
        let mut other = black_box(50_u64);
        increase(&mut other);
        Nap(false).await;
        black_box(&other);
    }
}

async fn rounds() {
    for i in 0..3 {
        let mut each = black_box(i * 10);
        Nap(false).await;
        look(9); // each: 1 scope
        increase(&mut each);
        Nap(false).await;
        black_box(&each);
    }
}

async fn captured() {
    let mut number = black_box(1_u64);
    let inner = async {
        Nap(false).await;
        look(10); // number: 2 3 returned
        increase(&mut number);
    };
    inner.await;
    Nap(false).await;
    increase(&mut number);
}

#[inline(never)]
fn consume(list: Vec<u64>) {
    black_box(&list);
}

async fn moved() {
    let mut list = vec![black_box(1_u64), 2];
    Nap(false).await;
    look(11); // list.len: 3 scope
    list.push(black_box(3));
    Nap(false).await;
    consume(list);
    Nap(false).await;
    {
        let mut other = [black_box(50_u64); 3];
        increase(&mut other[2]);
        Nap(false).await;
        increase(&mut other[2]);
        black_box(&other);
    }
}

async fn cancelled() {
    let mut number = black_box(1_u64);
    Nap(false).await;
    look(12); // number: 2 dropped
    increase(&mut number);
    std::future::pending::<()>().await;
    increase(&mut number);
}

/// Another task stops where this one is suspended in a round.
async fn slow_rounds() {
    for i in 0..3 {
        let mut each = black_box(i * 10);
        increase(&mut each);
        tokio::task::yield_now().await;
        increase(&mut each);
        tokio::task::yield_now().await;
        black_box(&each);
    }
}

async fn beside() {
    look(13); // task 9 each: 2 scope
}

/// The memory of the task is free, and something else gets it.
async fn reuse() {
    let task = tokio::spawn(cancelled());
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    task.abort();
    let _ = task.await;
    for i in 0..100_u64 {
        black_box(vec![i; 16]);
        black_box(vec![i; 32]);
    }
}

async fn tasks() {
    tokio::spawn(kept()).await.unwrap();
    tokio::spawn(scoped()).await.unwrap();
    tokio::spawn(adjoining()).await.unwrap();
    tokio::spawn(rounds()).await.unwrap();
    tokio::spawn(captured()).await.unwrap();
    tokio::spawn(moved()).await.unwrap();
    tokio::spawn(reuse()).await.unwrap();
    let slow = tokio::spawn(slow_rounds());
    tokio::spawn(beside()).await.unwrap();
    slow.await.unwrap();
}

fn main() {
    for run in [
        plain as fn(),
        || recursive(4),
        block,
        || looped(3),
        || drop(std::panic::catch_unwind(unwound)),
    ] {
        clobber();
        run();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(tasks());
}
