//! Who polls the first coroutine.

use std::future::Future;
use std::pin::Pin;

use futures_executor::LocalPool;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{block_in_place, spawn_blocking, LocalSet};
use tokio::time::sleep;

use crate::record::Me;
use crate::work::{value, yields};

/// What all of them run.
pub async fn root(me: Me) -> u32 {
    let a = yields(me.at(), 1).await;
    sleep(me.ms(2)).await;
    let b = value(me.at(), 1).await;
    let c = yields(me.at(), 3).await;
    me.add(a + b, c)
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("no runtime")
}

pub fn current(me: Me) {
    let spawned = async move { tokio::spawn(root(me)).await };
    current_thread().block_on(spawned).expect("it ended badly");
}

pub fn current_root(me: Me) {
    current_thread().block_on(root(me));
}

pub fn local(me: Me) {
    let tasks = LocalSet::new();
    let task = tasks.spawn_local(root(me));
    current_thread().block_on(tasks);
    drop(task);
}

/// Without a runtime of tokio's: there are no timers, and who is woken is polled at once.
pub fn pool(me: Me) {
    let mut pool = LocalPool::new();
    pool.run_until(untimed(me));
}

pub fn block_on(me: Me) {
    futures_executor::block_on(untimed(me));
}

pub async fn untimed(me: Me) -> u32 {
    let a = turns(me.at(), 1).await;
    let b = value(me.at(), 1).await;
    let c = turns(me.at(), 3).await;
    me.add(a + b, c)
}

/// As `yields`, on any executor.
fn turns(_: Me, mut times: u32) -> impl Future<Output = u32> {
    std::future::poll_fn(move |cx| {
        cx.waker().wake_by_ref();
        match times.checked_sub(1) {
            Some(left) => times = left,
            None => return std::task::Poll::Ready(1),
        }
        std::task::Poll::Pending
    })
}

/// A coroutine that blocks its worker until another one has ended.
pub async fn nested(me: Me) -> u32 {
    let a = yields(me.at(), 1).await;
    let b = block_in_place(|| Handle::current().block_on(root(me.other(1))));
    let c = yields(me.at(), 1).await;
    me.add(a + b, c)
}

pub async fn spawns(me: Me) -> u32 {
    let task = tokio::spawn(root(me.other(1)));
    let a = yields(me.at(), 1).await;
    let end = me.pass(task).await;
    me.add(a, end.unwrap_or(0))
}

/// The type of the task's future does not have that of the coroutine.
pub async fn spawns_object(me: Me) -> u32 {
    let future: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(root(me.other(1)));
    let task = tokio::spawn(future);
    let a = yields(me.at(), 1).await;
    let end = me.pass(task).await;
    me.add(a, end.unwrap_or(0))
}

#[inline(never)]
fn job(me: Me) -> u32 {
    let a = me.add(1, 2);
    let b = me.add(a, 3);
    me.add(a, b)
}

pub async fn blocking(me: Me) -> u32 {
    let number = me.other(1);
    let task = spawn_blocking(me.pass(move || job(number)));
    let end = me.pass(task).await;
    me.add(end.unwrap_or(0), 0)
}
