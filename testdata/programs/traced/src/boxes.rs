//! Futures in boxes.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::sleep;

use crate::count::counted;
use crate::tasks::{spawn, start, yields};

/// How often a task goes to sleep at each of its two places.
const TIMES: u64 = 5;

async fn nap() {
    sleep(Duration::from_millis(2)).await;
}

/// A box in a box.
async fn naps() {
    Box::pin(nap()).await;
}

async fn boxes() {
    for _ in 0..TIMES {
        Box::pin(naps()).await;
        Box::pin(yields(1)).await;
    }
}

async fn boxer() {
    counted("traced::boxes::boxer", boxes()).await
}

/// What is in it, only its table tells.
fn opaque() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(nap())
}

async fn hides() {
    for _ in 0..TIMES {
        opaque().await;
    }
}

async fn hider() {
    counted("traced::boxes::hider", hides()).await
}

async fn whole() {
    counted("traced::boxes::whole", nap()).await
}

pub fn boxed() {
    let runtime = start("boxed", 2);
    let handle = runtime.handle();

    runtime.block_on(async {
        let tasks = [spawn(handle, boxer()), spawn(handle, hider()), spawn(handle, Box::pin(whole()))];
        for task in tasks {
            task.await.expect("a task failed");
        }
    });
    drop(runtime);
}
