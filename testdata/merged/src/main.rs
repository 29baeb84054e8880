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

// They end.
macro_rules! brief {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                let kept = n + 4;
                sleep(Duration::from_millis(10)).await;
                black_box(kept)
            }
        )*
    };
}

// Those that other functions poll.
macro_rules! deep {
    ($($name:ident),*) => {
        $(
            async fn $name(n: u64) -> u64 {
                SPINNING.fetch_add(1, Ordering::SeqCst);
                loop {
                    thread::park();
                    if black_box(n) == 1000 {
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
brief!(brief_left, brief_right);
deep!(deep_left, deep_right);
boxed!(boxed_users, boxed_orders);
wrapped!(wrapped_users, wrapped_orders);
unequal!(narrow u8, wide u64);

async fn alone(n: u64) -> u64 {
    sleep(FOREVER).await;
    black_box(n)
}

// Polled at two places, so that it is not inlined.
async fn over_left(n: u64) -> u64 {
    let mut got = 0;
    if black_box(n) > 900 {
        got = deep_left(n + 1).await;
    }
    got += deep_left(n).await;
    black_box(got) + 1
}

async fn over_right(n: u64) -> u64 {
    let mut got = 0;
    if black_box(n) > 900 {
        got = deep_right(n + 1).await;
    }
    got += deep_right(n).await;
    black_box(got) + 2
}

// Awaits both, in different lines.
async fn over_both(n: u64) -> u64 {
    let mut got = 0;
    if black_box(n) > 900 {
        got = deep_left(n + 1).await;
    }
    got += deep_right(n).await;
    black_box(got) + 3
}

// Instances of one function with code of their own: one alone is at a place, though both are awaited.
async fn times<const N: usize>(n: u64) -> u64 {
    SPINNING.fetch_add(N, Ordering::SeqCst);
    loop {
        thread::park();
        if black_box(n) == 1000 + N as u64 {
            sleep(FOREVER).await;
        }
    }
}

#[rustfmt::skip]
async fn over_times(n: u64) -> u64 {
    if black_box(n) > 900 { times::<1>(n + 1).await + times::<2>(n + 1).await } else { times::<1>(n).await + times::<2>(n).await }
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

// Plain functions of equal code, in a debug build as well, and instances of one.
macro_rules! plain {
    ($($name:ident),*) => {
        $(
            #[inline(never)]
            fn $name(n: u64) -> u64 {
                n ^ 5
            }
        )*
    };
}

plain!(plain_left, plain_right);

#[inline(never)]
fn address_of<T>(place: &T) -> usize {
    place as *const T as usize
}

#[inline(never)]
fn place_of<T>(place: &T) -> usize {
    place as *const T as usize
}

fn main() {
    let n = std::env::args().count() as u64;
    black_box(plain_left(black_box(n)) + plain_right(black_box(n + 1)));
    black_box(address_of(&n) + address_of(&(n as i64)) + place_of(&[n; 2]) + place_of(&[n; 3]));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(9)
        .enable_time()
        .build()
        .unwrap();
    let brief = match std::env::args().nth(1) {
        Some(_) => runtime.spawn(brief_right(n)),
        None => runtime.spawn(brief_left(n)),
    };
    runtime.block_on(brief).unwrap();
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
        (runtime.spawn(over_left(n)).id(), "over_left deep_left"),
        (runtime.spawn(over_right(n)).id(), "over_right deep_right"),
        (runtime.spawn(over_both(n)).id(), "over_both deep_right"),
        (runtime.spawn(over_times(n)).id(), "over_times times"),
        (runtime.spawn(hold(Box::pin(deep_left(n)))).id(), "hold deep_left"),
        (runtime.spawn(hold(Box::pin(deep_right(n)))).id(), "hold deep_right"),
    ];
    while SPINNING.load(Ordering::SeqCst) < 8 {
        thread::yield_now();
    }
    let truth = tasks.map(|(id, functions)| format!("truth {id} {functions}"));
    println!("ready\n{}", truth.join("\n"));
    let _ = io::stdin().read_line(&mut String::new());
    std::process::exit(0);
}
