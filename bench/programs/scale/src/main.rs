//! Tasks of four kinds, each with a boxed child, and a thread that watches the clock.
//!
//! usage: scale TASKS [--clock | --heap MIB | --queues]
//!
//! Says `ready` and what it started in one line of JSON, and waits. With `--clock` a thread does
//! nothing but read the clock; each line on stdin then asks for the largest gap, in nanoseconds,
//! between two of its readings since the line before. With `--heap` it keeps that much memory, of
//! which every page was written to. With `--queues` a third of the tasks wait in the queue of one mutex,
//! and a third on one `Notify`. The process ends when stdin does.

use std::future::Future;
use std::io::{self, BufRead};
use std::pin::Pin;
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, Mutex, Notify};
use tokio::time::sleep;

const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

static REACHED: AtomicUsize = AtomicUsize::new(0);
static LARGEST_GAP: AtomicU64 = AtomicU64::new(0);

async fn leaf(number: usize) -> usize {
    REACHED.fetch_add(1, Ordering::Relaxed);
    sleep(FOREVER).await;
    number
}

/// A box of a type that is known.
async fn plain(number: usize) -> usize {
    Box::pin(leaf(number)).await
}

fn boxed(number: usize) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move { leaf(number).await + 1 })
}

async fn middle(number: usize) -> usize {
    boxed(number).await
}

async fn nested(number: usize) -> usize {
    middle(number).await + 1
}

async fn chosen(number: usize) -> usize {
    let (_sender, mut receiver) = mpsc::channel::<usize>(1);
    tokio::select! {
        got = receiver.recv() => got.unwrap_or(0),
        got = boxed(number) => got,
    }
}

async fn wait_with<T: Clone + Send>(value: T) -> T {
    REACHED.fetch_add(1, Ordering::Relaxed);
    sleep(FOREVER).await;
    value.clone()
}

async fn generic<T: Clone + Send + 'static>(value: T) -> T {
    let child: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(wait_with(value));
    child.await
}

async fn locked(lock: Arc<Mutex<usize>>) -> usize {
    REACHED.fetch_add(1, Ordering::Relaxed);
    let mut guard = lock.lock().await;
    *guard += 1;
    *guard
}

async fn notified(notify: Arc<Notify>) {
    REACHED.fetch_add(1, Ordering::Relaxed);
    notify.notified().await;
}

async fn hold(lock: Arc<Mutex<usize>>) -> usize {
    let guard = lock.lock().await;
    REACHED.fetch_add(1, Ordering::Relaxed);
    sleep(FOREVER).await;
    *guard
}

/// A third of the tasks in the queue of one mutex, a third on one Notify.
async fn start_in_queues(tasks: usize) {
    let (lock, notify) = (Arc::new(Mutex::new(0)), Arc::new(Notify::new()));
    tokio::spawn(hold(lock.clone()));
    while REACHED.load(Ordering::Relaxed) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    for number in 1..tasks {
        match number % 3 {
            0 => drop(tokio::spawn(locked(lock.clone()))),
            1 => drop(tokio::spawn(notified(notify.clone()))),
            _ => start(number / 3),
        }
    }
}

fn start(number: usize) {
    match number % 4 {
        0 => drop(tokio::spawn(plain(number))),
        1 => drop(tokio::spawn(nested(number))),
        2 => drop(tokio::spawn(chosen(number))),
        _ => drop(tokio::spawn(generic(number.to_string()))),
    }
}

fn watch_the_clock() {
    let mut last = Instant::now();
    loop {
        for _ in 0..16 {
            std::hint::spin_loop();
        }
        let now = Instant::now();
        let gap = now.duration_since(last).as_nanos() as u64;
        LARGEST_GAP.fetch_max(gap, Ordering::Relaxed);
        last = now;
    }
}

/// Small objects, half of which are pointers to others, as in a heap that has been used for long.
fn fill_heap(mib: usize) {
    let mut last = 0;
    for _ in 0..mib << 10 {
        let object: Box<[usize; 128]> = Box::new([last, 1].repeat(64).try_into().expect("128"));
        last = Box::leak(object).as_ptr() as usize;
    }
}

fn answer_questions() {
    for _ in io::stdin().lock().lines().map_while(Result::ok) {
        println!("{}", LARGEST_GAP.swap(0, Ordering::Relaxed));
    }
    process::exit(0);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let tasks = arguments.next().map_or(10_000, |tasks| tasks.parse().expect("not a number"));
    let option = arguments.next();
    if option.as_deref() == Some("--queues") {
        start_in_queues(tasks).await;
    } else {
        (0..tasks).for_each(start);
    }
    while REACHED.load(Ordering::Relaxed) < tasks {
        sleep(Duration::from_millis(10)).await;
    }
    sleep(Duration::from_millis(200)).await;
    match option.as_deref() {
        Some("--clock") => {
            let clock = thread::Builder::new().name("clock".to_string());
            clock.spawn(watch_the_clock).expect("cannot start a thread");
        }
        Some("--heap") => {
            let mib = arguments.next().map_or(1024, |mib| mib.parse().expect("not a number"));
            fill_heap(mib);
        }
        _ => (),
    }
    thread::spawn(answer_questions);
    println!("ready\n{{\"program\":\"scale\",\"tasks\":{tasks}}}");
    std::future::pending::<()>().await;
}
