//! Async functions that one macro makes. Their code is equal: with one codegen unit (LLVM's mergefunc),
//! or with `--icf=all` of lld and mold, one poll function is left for both of a pair, and the debug info
//! names one of the two. Prints `ready` and `truth TASK FUNCTION...` for each task, and waits for the end
//! of stdin (rustc 1.95).

use std::future::Future;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use tokio::time::sleep;

const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

static SPINNING: AtomicUsize = AtomicUsize::new(0);

macro_rules! sleepers {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                let kept = n + 1;
                sleep(FOREVER).await;
                black_box(kept)
            }
        )*
    };
}

macro_rules! spinners {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                SPINNING.fetch_add(1, Ordering::SeqCst);
                loop {
                    thread::park();
                    if black_box(n) == 0 {
                        sleep(FOREVER).await;
                    }
                }
            }
        )*
    };
}

// Each of its own macro: no two pairs are declared at one line.
macro_rules! boxed {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                let kept = n + 2;
                sleep(FOREVER).await;
                black_box(kept)
            }
        )*
    };
}

macro_rules! wrapped {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                let kept = n + 3;
                sleep(FOREVER).await;
                black_box(kept)
            }
        )*
    };
}

// Declared at one line, but with other code and other data: no pair.
macro_rules! unequal {
    ($($name:ident $type:ty),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                let kept = [n as $type; 3];
                sleep(FOREVER).await;
                black_box(kept)[0] as u64
            }
        )*
    };
}

sleepers!(load_users, load_orders);
spinners!(spin_left, spin_right);
boxed!(boxed_users, boxed_orders);
wrapped!(wrapped_users, wrapped_orders);
unequal!(narrow u8, wide u64);

async fn alone(n: u64) -> u64 {
    sleep(FOREVER).await;
    black_box(n)
}

async fn hold(future: Pin<Box<dyn Future<Output = u64> + Send>>) -> u64 {
    future.await
}

/// A future that a library would make: its poll function is an instance for each F.
struct Wrap<F>(Pin<Box<F>>);

impl<F: Future> Future for Wrap<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(cx)
    }
}

fn main() {
    let n = std::env::args().count() as u64;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .enable_time()
        .build()
        .unwrap();
    // Whatever is made first or last of a pair, the other one is the wrong one.
    let tasks = [
        (runtime.spawn(load_users(n)).id(), "load_users"),
        (runtime.spawn(load_orders(n)).id(), "load_orders"),
        (runtime.spawn(hold(Box::pin(boxed_users(n)))).id(), "hold boxed_users"),
        (runtime.spawn(hold(Box::pin(boxed_orders(n)))).id(), "hold boxed_orders"),
        (runtime.spawn(Wrap(Box::pin(wrapped_users(n)))).id(), "wrapped_users"),
        (runtime.spawn(Wrap(Box::pin(wrapped_orders(n)))).id(), "wrapped_orders"),
        (runtime.spawn(narrow(n)).id(), "narrow"),
        (runtime.spawn(wide(n)).id(), "wide"),
        (runtime.spawn(alone(n)).id(), "alone"),
        (runtime.spawn(spin_left(n)).id(), "spin_left"),
        (runtime.spawn(spin_right(n)).id(), "spin_right"),
    ];
    while SPINNING.load(Ordering::SeqCst) < 2 {
        thread::yield_now();
    }
    let truth = tasks.map(|(id, functions)| format!("truth {id} {functions}"));
    println!("ready\n{}", truth.join("\n"));
    let _ = io::stdin().read_line(&mut String::new());
    std::process::exit(0);
}
