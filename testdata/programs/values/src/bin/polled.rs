//! A coroutine that is being polled: optimised code has no place for most of its variables but in its memory.
use std::hint::black_box;

#[inline(never)]
fn mark(n: u64) {
    black_box(n);
}

async fn count(first: u64, mut rounds: u64) -> u64 {
    let mut sum = black_box(first);
    let label = black_box(77_u64);
    tokio::task::yield_now().await;
    while rounds > 0 {
        let step = black_box(rounds) + 1;
        sum += step;
        rounds -= 1;
        mark(sum);
        tokio::task::yield_now().await;
    }
    black_box(sum + first + label)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("ready");
    tokio::spawn(count(black_box(5), black_box(2))).await.unwrap();
}
