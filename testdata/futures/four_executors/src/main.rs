//! Tasks of four executors at once, tokio, async-executor, and the `LocalPool` and `ThreadPool` of
//! futures, that wait for each other by locks, handles and channels; two of them in a deadlock. And
//! threads in a `block_on` of three crates, each with a task that waits until its receiver is gone.

use std::future::{pending, poll_fn};
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_executor::{Executor, Task as Handle};
use futures::channel::oneshot;
use futures::executor::{LocalPool, ThreadPool};
use futures::lock::Mutex as FuturesMutex;
use futures::task::{LocalSpawnExt, SpawnExt};
use tokio::runtime;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use truth::graph::{address, Graph, Node};
use truth::{here, leak, quiet, Runtime, Task, Truth, Wait};

type Lock = &'static Mutex<u32>;
type Other = &'static FuturesMutex<u32>;
type Pool = &'static Executor<'static>;

/// The tasks that were polled: their names, and the data of their wakers or their ids.
static TASKS: StdMutex<Vec<(&str, u64)>> = StdMutex::new(Vec::new());
/// The threads in a `block_on`.
static THREADS: StdMutex<Vec<(&str, u32)>> = StdMutex::new(Vec::new());

async fn polled(name: &'static str) {
    let id = match tokio::task::try_id() {
        Some(id) => id.to_string().parse().unwrap(),
        None => poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await,
    };
    TASKS.lock().unwrap().push((name, id));
}

fn task(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

fn thread_of(name: &str) -> u32 {
    THREADS.lock().unwrap().iter().find(|thread| thread.0 == name).unwrap().1
}

/// Of a channel whose sender is never used.
fn never() -> oneshot::Receiver<u32> {
    let (sender, receiver) = oneshot::channel();
    leak(sender);
    receiver
}

async fn until(name: &str) {
    while task(name).is_none() {
        futures_lite::future::yield_now().await;
    }
}

/// On tokio.
async fn hold(lock: Lock) {
    let _guard = lock.lock().await;
    polled("hold").await;
    here!("four_executors::hold");
    let _ = never().await;
}

/// On the thread pool and on the local pool.
async fn want(name: &'static str, lock: Lock) {
    polled(name).await;
    until("hold").await;
    here!("four_executors::want");
    *lock.lock().await += 1;
}

/// On the thread pool.
async fn cross(own: Other, other: Lock) {
    let guard = own.lock().await;
    polled("cross").await;
    until("back").await;
    here!("four_executors::cross");
    *other.lock().await += 1;
    drop(guard);
}

/// On async-executor.
async fn back(own: Lock, other: Other) {
    let guard = own.lock().await;
    polled("back").await;
    until("cross").await;
    here!("four_executors::back");
    *other.lock().await += 1;
    drop(guard);
}

async fn compute(name: &'static str) -> u32 {
    polled(name).await;
    here!("four_executors::compute");
    let _ = never().await;
    1
}

/// On async-executor, for a task of tokio.
async fn joins_tokio(handle: JoinHandle<u32>) {
    polled("joins_tokio").await;
    here!("four_executors::joins_tokio");
    let _ = handle.await;
}

/// On the thread pool, for a task of async-executor.
async fn joins_smol(handle: Handle<u32>) {
    polled("joins_smol").await;
    here!("four_executors::joins_smol");
    handle.await;
}

/// Until its receiver, which another thread waits with, is gone.
async fn closed(name: &'static str, mut sender: oneshot::Sender<u32>) {
    polled(name).await;
    here!("four_executors::closed");
    sender.cancellation().await;
}

async fn asks(receiver: oneshot::Receiver<u32>) {
    here!("four_executors::asks");
    let _ = receiver.await;
}

/// A thread in a `block_on`, which waits for a message of a task.
fn block_on(name: &'static str, by: fn(oneshot::Receiver<u32>)) -> oneshot::Sender<u32> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        THREADS.lock().unwrap().push((name, quiet::own_tid()));
        by(receiver);
    });
    sender
}

fn runtime(kind: &'static str, flavor: &'static str, workers: Option<usize>) -> Runtime {
    Runtime { kind, flavor, workers, name: None, alive: None, queued: None }
}

fn graph(lock: Lock, first: Other, second: Lock) -> Graph {
    let of = |name| Node::task(task(name));
    let mut graph = Graph::new();
    graph.waits(of("want_pool"), "mutex", address(lock), &[of("hold")]);
    graph.waits(of("want_local"), "mutex", address(lock), &[of("hold")]);
    graph.waits(of("cross"), "mutex", address(second), &[of("back")]);
    graph.waits(of("back"), "mutex", address(first), &[of("cross")]);
    graph.deadlock(&[of("cross"), of("back")]);
    for name in ["by_futures", "by_pollster", "by_lite"] {
        graph.deadlock(&[of(name), Node::thread(thread_of(name))]);
    }
    graph
}

fn tasks(lock: Lock, first: Other, second: Lock) -> Vec<Task> {
    let idle = |name: &str, chain: &[&'static str]| Task::idle(task(name), chain);
    let held = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    let other = Wait::new("mutex").with("object", first as *const FuturesMutex<u32>);
    let want = |name| idle(name, &["four_executors::want"]).waits(held(lock));
    let compute = |name| idle(name, &["four_executors::compute"]);
    let closed = |name| {
        let wait = Wait::new("oneshot_closed").with("receiver_alive", true);
        idle(name, &["four_executors::closed"]).waits(wait)
    };
    let joins = |name, function, of| idle(name, &[function]).joins(task(of));
    vec![
        idle("hold", &["four_executors::hold"]),
        compute("of_tokio"),
        closed("by_futures"),
        want("want_local").on(1),
        want("want_pool").on(2),
        idle("cross", &["four_executors::cross"]).waits(held(second)).on(2),
        joins("joins_smol", "four_executors::joins_smol", "of_smol").on(2),
        closed("by_pollster").on(2),
        idle("back", &["four_executors::back"]).waits(other).on(3),
        joins("joins_tokio", "four_executors::joins_tokio", "of_tokio").on(3),
        compute("of_smol").on(3),
        closed("by_lite").on(3),
    ]
}

fn spawn_all(tokio: &runtime::Runtime, smol: Pool, pool: &ThreadPool, locks: (Lock, Other, Lock)) {
    let (lock, first, second) = locks;
    tokio.spawn(hold(lock));
    let handle = tokio.spawn(compute("of_tokio"));
    let sender = block_on("by_futures", |r| futures::executor::block_on(asks(r)));
    tokio.spawn(closed("by_futures", sender));
    smol.spawn(joins_tokio(handle)).detach();
    smol.spawn(back(second, first)).detach();
    let sender = block_on("by_lite", |r| futures_lite::future::block_on(asks(r)));
    smol.spawn(closed("by_lite", sender)).detach();
    pool.spawn(joins_smol(smol.spawn(compute("of_smol")))).unwrap();
    pool.spawn(want("want_pool", lock)).unwrap();
    pool.spawn(cross(first, second)).unwrap();
    let sender = block_on("by_pollster", |r| pollster::block_on(asks(r)));
    pool.spawn(closed("by_pollster", sender)).unwrap();
    thread::spawn(move || {
        let mut local = LocalPool::new();
        local.spawner().spawn_local(want("want_local", lock)).unwrap();
        local.run();
    });
    thread::spawn(move || futures_lite::future::block_on(smol.run(pending::<()>())));
}

fn main() {
    let lock: Lock = leak(Mutex::new(0));
    let first: Other = leak(FuturesMutex::new(0));
    let second: Lock = leak(Mutex::new(0));
    let tokio =
        runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let smol: Pool = leak(Executor::new());
    let pool = ThreadPool::builder().pool_size(1).create().unwrap();
    spawn_all(&tokio, smol, &pool, (lock, first, second));
    while TASKS.lock().unwrap().len() < 12 {
        thread::sleep(Duration::from_millis(1));
    }
    let wait = Wait::new("oneshot").with("sender_alive", true).with("polled", true);
    let asks = &["four_executors::asks"];
    Truth::new("four_executors")
        .runtime(truth_tokio::describe(tokio.handle(), "multi_thread", 1))
        .runtime(runtime("futures_executor", "local_pool", Some(1)))
        .runtime(runtime("futures_executor", "thread_pool", Some(1)))
        .runtime(runtime("async_executor", "executor", None))
        .tasks(tasks(lock, first, second))
        .block_on_waits(asks, wait.clone())
        .block_on_waits(asks, wait.clone())
        .block_on_waits(asks, wait)
        .graph(graph(lock, first, second))
        .publish();
    loop {
        thread::park();
    }
}
