//! Tasks that come and go at full speed beside others that never move, and idle threads in the
//! blocking pool.
//!
//! Prints one line of JSON before "ready": the ids of the tasks that stay, and the kernel's ids of
//! the idle threads. It is never at rest, so it has no truth about all of itself to tell.

use std::fs;
use std::io;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::sleep;
use truth::FOREVER;

const STAY: usize = 200;
const POOL: usize = 4;
const SPAWNERS: usize = 2;
const AT_ONCE: u64 = 50;

async fn sleeps(number: usize) -> usize {
    sleep(FOREVER).await;
    number
}

async fn stay(number: usize) -> usize {
    sleeps(number).await
}

async fn hold(sender: oneshot::Sender<()>) {
    sleep(FOREVER).await;
    drop(sender);
}

async fn receive(receiver: oneshot::Receiver<()>) {
    let _ = receiver.await;
}

async fn leaf(number: u64) -> u64 {
    yield_now().await;
    number
}

async fn come_and_go(number: u64) -> u64 {
    Box::pin(leaf(number)).await + 1
}

async fn spawn_for_ever() {
    loop {
        let tasks: Vec<_> = (0..AT_ONCE).map(|n| tokio::spawn(come_and_go(n))).collect();
        for task in tasks {
            let _ = task.await;
        }
    }
}

fn own_tid() -> u32 {
    let link = fs::read_link("/proc/thread-self").expect("/proc is not mounted");
    let tid = link.file_name().and_then(|name| name.to_str());
    tid.and_then(|tid| tid.parse().ok()).expect("not a thread id")
}

fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_keep_alive(Duration::from_secs(3600))
        .enable_all()
        .build()
        .expect("no runtime");

    let (sender, receiver) = oneshot::channel();
    let mut tasks: Vec<_> =
        (0..STAY).map(|n| runtime.spawn(stay(n))).map(|t| truth::id(&t)).collect();
    tasks.push(truth::id(&runtime.spawn(hold(sender))));
    tasks.push(truth::id(&runtime.spawn(receive(receiver))));

    // All at the same time, or one thread would do them one after the other.
    let barrier = Arc::new(Barrier::new(POOL));
    let jobs: Vec<_> = (0..POOL)
        .map(|_| {
            let barrier = barrier.clone();
            runtime.spawn_blocking(move || {
                barrier.wait();
                own_tid()
            })
        })
        .collect();
    let pool: Vec<u32> =
        jobs.into_iter().map(|job| runtime.block_on(job).expect("a job failed")).collect();

    for _ in 0..SPAWNERS {
        runtime.spawn(spawn_for_ever());
    }
    let ids: Vec<u64> = tasks.into_iter().flatten().collect();
    println!("{{\"stay\":{:?},\"pool\":{:?}}}\nready", ids, pool);
    let mut line = String::new();
    let _ = io::stdin().read_line(&mut line);
    runtime.shutdown_background();
}
