//! Tasks under load whose polls tokio's hooks time, from before each to behind it: no poll takes longer.

use std::cell::Cell;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, TaskMeta};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::count::{also, count};

const WORKERS: usize = 24;
const BURNERS: usize = 2;
const TASKS: u64 = 48;
const PLANTED: Duration = Duration::from_millis(60);

static LONGEST: Mutex<Option<HashMap<String, u64>>> = Mutex::new(None);

thread_local! {
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn before(_: &TaskMeta<'_>) {
    BEGAN.with(|began| began.set(Some(Instant::now())));
}

fn behind(meta: &TaskMeta<'_>) {
    let now = Instant::now();
    let began = BEGAN.with(Cell::take).expect("a poll has ended that had not begun");
    let ns = (now - began).as_nanos() as u64;
    let mut longest = LONGEST.lock().expect("a thread panicked in a hook");
    let of_task =
        longest.get_or_insert_with(HashMap::new).entry(meta.id().to_string()).or_insert(0);
    *of_task = ns.max(*of_task);
}

#[inline(never)]
fn spin(time: Duration) {
    let start = Instant::now();
    let mut turns = 0u64;
    while start.elapsed() < time {
        turns = black_box(turns + 1);
    }
}

/// Short polls, each for another time, with sleeps between them that are longer than those.
async fn short(number: u64, end: Instant) {
    let mut turn = number;
    while Instant::now() < end {
        spin(Duration::from_micros(50 + turn * 37 % 500));
        yield_now().await;
        sleep(Duration::from_millis(1 + turn % 40)).await;
        turn += 1;
    }
}

/// A poll of 60 ms now and then.
async fn long(end: Instant) {
    while Instant::now() < end {
        thread::sleep(PLANTED);
        sleep(Duration::from_millis(100)).await;
    }
}

pub fn timed(milliseconds: u64) {
    count(|counts| counts.workers += WORKERS as u64);
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let over = Arc::new(AtomicBool::new(false));
    let burners: Vec<_> = (0..BURNERS)
        .map(|_| {
            let over = over.clone();
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    spin(Duration::from_millis(1));
                }
            })
        })
        .collect();
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_time()
        .on_before_task_poll(before)
        .on_after_task_poll(behind)
        .build()
        .expect("no runtime");
    let mut tasks: Vec<_> = (0..TASKS).map(|number| runtime.spawn(short(number, end))).collect();
    tasks.push(runtime.spawn(long(end)));

    runtime.block_on(async {
        for task in tasks {
            task.await.expect("a task failed");
        }
    });
    drop(runtime);
    over.store(true, Ordering::Relaxed);
    for burner in burners {
        burner.join().expect("a thread panicked");
    }
    for (id, ns) in LONGEST.lock().expect("a thread panicked in a hook").take().unwrap_or_default()
    {
        also(&format!("longest.{}", id), ns);
    }
}
