//! Many tasks of four kinds. The argument is how many; 10,000 without one. With `queues` behind it a third of
//! them waits in the queue of a mutex, a third on one Notify.

use std::env;
use std::future::Future;
use std::pin::Pin;

use tokio::sync::{Mutex, Notify};
use tokio::time::sleep;
use truth::{here, leak, Task, Truth, FOREVER};

async fn plain(number: usize) -> usize {
    here!("many::plain");
    sleep(FOREVER).await;
    number
}

async fn nested(number: usize) -> usize {
    here!("many::nested");
    plain(number).await + 1
}

fn boxed_leaf(number: usize) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        here!("many::boxed_leaf::{async_block#0}");
        sleep(FOREVER).await;
        number
    })
}

async fn boxed(number: usize) -> usize {
    here!("many::boxed");
    boxed_leaf(number).await
}

async fn generic<T: Clone>(value: T) -> T {
    let kept = value.clone();
    here!("many::generic");
    sleep(FOREVER).await;
    kept
}

async fn locked(lock: &Mutex<usize>) -> usize {
    here!("many::locked");
    let mut guard = lock.lock().await;
    *guard += 1;
    *guard
}

async fn notified(notify: &Notify) {
    here!("many::notified");
    notify.notified().await;
}

/// Two thirds of the tasks: the future of block_on holds the mutex.
fn start_in_queues(total: usize, lock: &'static Mutex<usize>) -> Vec<Task> {
    let notify: &Notify = leak(Notify::new());
    let ids = |number| match number % 2 {
        0 => truth::id(&tokio::spawn(locked(lock))),
        _ => truth::id(&tokio::spawn(notified(notify))),
    };
    let (locked, notified): (Vec<_>, Vec<_>) =
        (0..total / 3).map(|pair| (ids(2 * pair), ids(2 * pair + 1))).unzip();
    vec![
        Task::all_idle(locked, &["many::locked"]),
        Task::all_idle(notified, &["many::notified"]),
    ]
}

fn start<F>(count: usize, make: impl Fn(usize) -> F, chain: &[&'static str]) -> Task
where
    F: Future + Send + 'static,
    F::Output: std::fmt::Debug + Send,
{
    let ids = (0..count).map(|number| truth::id(&tokio::spawn(make(number)))).collect();
    Task::all_idle(ids, chain).sleeps()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let total = env::args().nth(1).map_or(10_000, |arg| arg.parse().expect("not a number"));
    let queues = env::args().nth(2).map_or(false, |arg| arg == "queues");
    let lock: &Mutex<usize> = leak(Mutex::new(0));
    let _guard = if queues { Some(lock.lock().await) } else { None };
    let mut tasks = if queues { start_in_queues(total, lock) } else { Vec::new() };
    let total = if queues { total - total / 3 * 2 } else { total };
    let quarter = total / 4;
    tasks.extend([
        start(total - 3 * quarter, plain, &["many::plain"]),
        start(quarter, nested, &["many::nested", "many::plain"]),
        start(quarter, boxed, &["many::boxed", "many::boxed_leaf::{async_block#0}"]),
        start(quarter, |n| generic(n.to_string()), &["many::generic"]),
    ]);
    Truth::new("many")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["many::main::{async_block#0}"])
        .publish();
    here!("many::main::{async_block#0}");
    std::future::pending::<()>().await;
}
