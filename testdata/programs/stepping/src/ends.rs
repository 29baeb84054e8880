//! Coroutines that do not reach their last line.

use std::panic::AssertUnwindSafe;
use std::sync::mpsc;

use futures_util::FutureExt;
use tokio::runtime::Builder;

use crate::record::Me;
use crate::together::loser;
use crate::work::{value, yields};

/// Its task is aborted while it is suspended.
pub async fn aborted(me: Me) {
    let (sender, suspended) = mpsc::channel();
    let task = tokio::spawn(loser(me, Some(sender)));
    let aborts = task.abort_handle();
    let _ = tokio::task::spawn_blocking(move || {
        let _ = suspended.recv();
        aborts.abort();
    })
    .await;
    assert!(task.await.is_err_and(|error| error.is_cancelled()));
}

/// Its runtime ends while it is suspended. Not on a thread of a runtime.
pub fn shutdown(me: Me) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let runtime = runtime.expect("no runtime");
    let (sender, suspended) = mpsc::channel();
    runtime.spawn(loser(me, Some(sender)));
    let _ = suspended.recv();
    drop(runtime);
}

pub async fn panics(me: Me) -> u32 {
    let a = yields(me.at(), 2).await;
    let b = refuse(me.add(a, 1));
    let c = yields(me.at(), 2).await;
    me.add(b, c)
}

#[inline(never)]
fn refuse(number: u32) -> u32 {
    assert!(number == 0, "planned");
    number
}

/// A task that panics, seen by the one that joins it.
pub async fn joins(me: Me) -> u32 {
    let task = tokio::spawn(panics(me.other(1)));
    let end = me.pass(task).await;
    let a = me.add(end.is_err() as u32, 0);
    me.add(a, 1)
}

/// It catches the panic of what it awaits.
pub async fn catches(me: Me) -> u32 {
    let child = AssertUnwindSafe(panics(me.other(1))).catch_unwind();
    let end = me.pass(child).await;
    let a = me.add(end.is_err() as u32, 0);
    let b = value(me.at(), 1).await;
    me.add(a, b)
}

/// The panic of what it awaits ends it too.
pub async fn unwinds(me: Me) -> u32 {
    let a = yields(me.at(), 1).await;
    let b = panics(me.other(1)).await;
    me.add(a, b)
}
