//! A library that has a tokio of its own: each call of its function runs tasks on a runtime. With
//! PLUGGED_STAYS in the environment the first one prints "inside" and does not return; with
//! PLUGGED_LEAVES it leaves a runtime that no thread is inside.

use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio::time::sleep;

#[inline(never)]
async fn half(n: u64) -> u64 {
    yield_now().await;
    n / 2
}

#[inline(never)]
async fn job(n: u64) -> u64 {
    let a = half(n).await;
    sleep(Duration::from_millis(1)).await;
    let b = half(a).await;
    a + b
}

/// A task that sleeps beside it.
async fn idle() {
    sleep(Duration::from_secs(1000)).await;
}

fn leave() -> u64 {
    let runtime = Builder::new_current_thread().enable_time().build().expect("no runtime");
    runtime.block_on(async { tokio::spawn(idle()) });
    std::mem::forget(runtime);
    0
}

#[no_mangle]
pub extern "C" fn plugin(n: u32) -> u64 {
    if std::env::var_os("PLUGGED_LEAVES").is_some() {
        return leave();
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build();
    runtime.expect("no runtime").block_on(async {
        tokio::spawn(idle());
        if std::env::var_os("PLUGGED_STAYS").is_some() {
            println!("inside");
            idle().await;
        }
        tokio::spawn(job(u64::from(n) + 8)).await.unwrap_or(0)
    })
}
