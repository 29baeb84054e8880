//! Many tasks of forty kinds: eight functions that lead to five awaits in a sixth. The argument is
//! how many tasks; 4,000 without one. No two kinds have as many.

use std::env;

use tokio::sync::{mpsc, Mutex, Notify, Semaphore};
use tokio::time::{sleep, Duration};
use truth::{here, leak, Task, Truth, Wait, FOREVER};

#[derive(Clone, Copy)]
enum For {
    Sleep,
    Mutex(&'static Mutex<u32>),
    Notify(&'static Notify),
    Message,
    Permit(&'static Semaphore),
}

async fn work(what: For, number: u64) -> u64 {
    match what {
        For::Sleep => {
            here!("kinds::work sleep");
            sleep(FOREVER + Duration::from_secs(number)).await;
        }
        For::Mutex(mutex) => {
            here!("kinds::work mutex");
            drop(mutex.lock().await);
        }
        For::Notify(notify) => {
            here!("kinds::work notify");
            notify.notified().await;
        }
        For::Message => {
            let (sender, mut receiver) = mpsc::channel::<u64>(1 + number as usize % 3);
            here!("kinds::work message");
            receiver.recv().await;
            drop(sender);
        }
        For::Permit(semaphore) => {
            here!("kinds::work permit");
            drop(semaphore.acquire_many(1 + number as u32 % 3).await);
        }
    }
    number
}

async fn accept(what: For, number: u64) {
    here!("kinds::accept");
    work(what, number).await;
}

async fn read(what: For, number: u64) {
    here!("kinds::read");
    work(what, number).await;
}

async fn parse(what: For, number: u64) {
    here!("kinds::parse");
    work(what, number).await;
}

async fn check(what: For, number: u64) {
    here!("kinds::check");
    work(what, number).await;
}

async fn query(what: For, number: u64) {
    here!("kinds::query");
    work(what, number).await;
}

async fn render(what: For, number: u64) {
    here!("kinds::render");
    work(what, number).await;
}

async fn write(what: For, number: u64) {
    here!("kinds::write");
    work(what, number).await;
}

async fn close(what: For, number: u64) {
    here!("kinds::close");
    work(what, number).await;
}

const NAMES: [&str; 8] = [
    "kinds::accept",
    "kinds::read",
    "kinds::parse",
    "kinds::check",
    "kinds::query",
    "kinds::render",
    "kinds::write",
    "kinds::close",
];

const WAITS: usize = 5;
const KINDS: usize = NAMES.len() * WAITS;

fn start(function: usize, what: For, number: u64) -> Option<u64> {
    let handle = match function {
        0 => tokio::spawn(accept(what, number)),
        1 => tokio::spawn(read(what, number)),
        2 => tokio::spawn(parse(what, number)),
        3 => tokio::spawn(check(what, number)),
        4 => tokio::spawn(query(what, number)),
        5 => tokio::spawn(render(what, number)),
        6 => tokio::spawn(write(what, number)),
        _ => tokio::spawn(close(what, number)),
    };
    truth::id(&handle)
}

/// What is true of all tasks of a kind.
fn describe(function: usize, what: For, ids: Vec<Option<u64>>) -> Task {
    let (place, wait) = match what {
        For::Sleep => ("kinds::work sleep", None),
        For::Mutex(_) => ("kinds::work mutex", Some("mutex")),
        For::Notify(_) => ("kinds::work notify", Some("notify")),
        For::Message => ("kinds::work message", Some("mpsc_recv")),
        For::Permit(_) => ("kinds::work permit", Some("semaphore")),
    };
    let task = Task::all_idle(ids, &[NAMES[function], place]);
    match wait {
        None => task.sleeps(),
        Some(wait) => task.waits(Wait::new(wait)),
    }
}

/// How many there are of each kind: of the second twice as many as of the first, and so on.
fn counts(total: usize) -> Vec<usize> {
    let parts = KINDS * (KINDS + 1) / 2;
    let mut counts: Vec<usize> = (1..=KINDS).map(|kind| total * kind / parts).collect();
    counts[KINDS - 1] += total - counts.iter().sum::<usize>();
    counts
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let total = env::args().nth(1).map_or(4_000, |arg| arg.parse().expect("not a number"));
    let counts = counts(total);
    let mut ids = vec![Vec::new(); KINDS];
    let mutex = leak(Mutex::new(0));
    let guard = mutex.lock().await;
    let waits: [For; WAITS] = [
        For::Sleep,
        For::Mutex(mutex),
        For::Notify(leak(Notify::new())),
        For::Message,
        For::Permit(leak(Semaphore::new(0))),
    ];
    // The kinds take turns: none has a range of ids for itself.
    for round in 0..counts[KINDS - 1] {
        for kind in (0..KINDS).filter(|kind| round < counts[*kind]) {
            ids[kind].push(start(kind / WAITS, waits[kind % WAITS], round as u64));
        }
    }
    let tasks = ids.into_iter().enumerate().filter(|(_, ids)| !ids.is_empty());
    Truth::new("kinds")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.map(|(kind, ids)| describe(kind / WAITS, waits[kind % WAITS], ids)))
        .block_on(&["kinds::main::{async_block#0}"])
        .publish();
    here!("kinds::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(guard);
}
