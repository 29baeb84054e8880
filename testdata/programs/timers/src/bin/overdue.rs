//! Timers that are due and do not fire, since nobody turns the driver of their runtime; argument 1 says why. Prints
//! `ready` when they have been due for a while. See run_overdue.py.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

static LOCK: Mutex<u32> = Mutex::new(0);

fn ready_after(time: Duration) {
    thread::spawn(move || {
        thread::sleep(time);
        println!("ready");
    });
}

async fn lock() {
    sleep(SHORT / 2).await;
    *LOCK.lock().unwrap() += 1;
}

async fn wait() {
    sleep(SHORT).await;
    sleep(LONG).await;
}

/// Blocks the thread of its runtime.
async fn block() {
    thread::sleep(LONG);
}

/// Never returns from its first poll.
async fn compute() {
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        std::hint::black_box(0);
    }
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// All workers wait for a lock of a thread that keeps it.
fn locked() {
    let runtime = multi_thread();
    let _guard = LOCK.lock().unwrap();
    runtime.spawn(wait());
    runtime.spawn(lock());
    runtime.spawn(lock());
    thread::sleep(LONG);
}

/// The only thread of the runtime sleeps.
fn blocked() {
    let runtime = current_thread();
    runtime.spawn(wait());
    runtime.spawn(block());
    runtime.block_on(async { sleep(LONG).await });
}

/// The only thread of the runtime computes.
fn computing() {
    let runtime = current_thread();
    runtime.spawn(wait());
    runtime.spawn(compute());
    runtime.block_on(async { sleep(LONG).await });
}

/// A thread waits for a timer of a runtime that has no thread.
fn handle() {
    let runtime = current_thread();
    runtime.handle().block_on(wait());
}

/// A task waits for a timer of a runtime that no thread is inside any more.
fn left() {
    let runtime = current_thread();
    let task = runtime.spawn(wait());
    runtime.block_on(tokio::task::yield_now());
    let other = current_thread();
    other.block_on(async {
        sleep(LONG).await;
        let _ = task.await;
    });
    drop(runtime);
}

/// Timers that fire, while a worker blocks for less than it takes to be found.
fn healthy() {
    let runtime = multi_thread();
    for i in 0..100 {
        runtime.spawn(async move {
            loop {
                sleep(Duration::from_millis(5 + i % 20)).await;
            }
        });
    }
    runtime.spawn(async {
        loop {
            thread::sleep(Duration::from_millis(10));
            tokio::task::yield_now().await;
        }
    });
    runtime.block_on(async { sleep(LONG).await });
}

/// A timer that was polled and is held now, while its task waits for something else: it has fired, and its task was
/// woken for nothing.
fn held() {
    let runtime = multi_thread();
    runtime.spawn(async {
        let mut timer = std::pin::pin!(sleep(SHORT));
        std::future::poll_fn(|cx| {
            let _ = std::future::Future::poll(timer.as_mut(), cx);
            std::task::Poll::Ready(())
        })
        .await;
        sleep(LONG).await;
        timer.await;
    });
    runtime.block_on(async { sleep(LONG).await });
}

fn main() {
    let mode = std::env::args().nth(1).expect("a mode");
    ready_after(SHORT * 12);
    match mode.as_str() {
        "locked" => locked(),
        "blocked" => blocked(),
        "computing" => computing(),
        "handle" => handle(),
        "left" => left(),
        "healthy" => healthy(),
        "held" => held(),
        _ => panic!("no mode {mode}"),
    }
}
