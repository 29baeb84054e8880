//! Tasks that are counted.

use std::future::{pending, Future};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::task::{spawn_blocking, spawn_local, unconstrained, yield_now, JoinHandle, LocalSet};
use tokio::time::sleep;
use truth::quiet;

use crate::count::{also, count, counted, polls};

/// A multi-thread runtime with so many workers.
pub fn start(name: &str, workers: usize) -> Runtime {
    count(|counts| counts.workers += workers as u64);
    Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name(name)
        .enable_time()
        .build()
        .expect("no runtime")
}

fn spawned() {
    count(|counts| counts.spawned += 1);
}

pub fn spawn<F>(runtime: &Handle, task: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawned();
    runtime.spawn(task)
}

/// A job of the blocking pool. It ends before its handle is joined.
fn job(milliseconds: u64) -> JoinHandle<()> {
    count(|counts| counts.blocking += 1);
    spawn_blocking(move || thread::sleep(Duration::from_millis(milliseconds)))
}

/// A task has ended when its handle can be joined, but the worker may still be at its end.
async fn join<T>(tasks: Vec<JoinHandle<T>>) {
    for task in tasks {
        task.await.expect("a task failed");
    }
}

pub async fn yields(times: u64) {
    for _ in 0..times {
        yield_now().await;
    }
}

async fn yielder(times: u64) {
    counted("traced::tasks::yielder", yields(times)).await
}

async fn instant() {
    counted("traced::tasks::instant", async {}).await
}

async fn sleeps(times: u64) {
    for _ in 0..times {
        sleep(Duration::from_millis(3)).await;
    }
}

async fn sleeper(times: u64) {
    counted("traced::tasks::sleeper", sleeps(times)).await
}

async fn child(times: u64) {
    counted("traced::tasks::child", yields(times)).await
}

async fn has_children(children: u64) {
    let handle = Handle::current();
    join((0..children).map(|_| spawn(&handle, child(2))).collect()).await
}

async fn parent(children: u64) {
    counted("traced::tasks::parent", has_children(children)).await
}

async fn panics() {
    yield_now().await;
    panic!("this panic is part of the test");
}

async fn panicker() {
    counted("traced::tasks::panicker", panics()).await
}

async fn asks(jobs: u64) {
    join((0..jobs).map(|_| job(1)).collect()).await
}

async fn asker(jobs: u64) {
    counted("traced::tasks::asker", asks(jobs)).await
}

static SUSPENDED: AtomicBool = AtomicBool::new(false);

async fn never() {
    SUSPENDED.store(true, Ordering::SeqCst);
    pending().await
}

async fn aborted() {
    counted("traced::tasks::aborted", never()).await
}

/// Aborts a task that is suspended: the runtime runs it once more, and does not poll its future.
async fn abort(task: JoinHandle<()>) {
    count(|counts| counts.cancels += 1);
    task.abort();
    assert!(task.await.expect_err("it ended by itself").is_cancelled());
}

pub fn counts() {
    let runtime = start("counts", 3);
    let handle = runtime.handle();

    SUSPENDED.store(false, Ordering::SeqCst);
    let suspended = spawn(handle, aborted());
    // When every worker sleeps, none of them is in its poll.
    while !SUSPENDED.load(Ordering::SeqCst) || quiet::check(&[]).is_err() {
        thread::sleep(Duration::from_millis(1));
    }
    runtime.block_on(async {
        abort(suspended).await;
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        tasks.extend((1..=5).map(|n| spawn(handle, yielder(10 * n))));
        tasks.extend((0..50).map(|_| spawn(handle, instant())));
        tasks.push(spawn(handle, sleeper(3)));
        tasks.push(spawn(handle, parent(4)));
        tasks.push(spawn(handle, asker(2)));
        tasks.extend((0..3).map(|_| job(5)));
        let panicker = spawn(handle, panicker());
        assert!(panicker.await.expect_err("it did not panic").is_panic());
        join(tasks).await;
    });
    // Waits for the workers to end.
    drop(runtime);
    assert_eq!(polls("traced::tasks::yielder"), 10 + 20 + 30 + 40 + 50 + 5);
    assert_eq!(polls("traced::tasks::instant"), 50);
    assert_eq!(polls("traced::tasks::child"), 4 * 3);
    assert_eq!(polls("traced::tasks::panicker"), 2);
    assert_eq!(polls("traced::tasks::aborted"), 1);
}

async fn local_yielder(times: u64) {
    counted("traced::tasks::local_yielder", yields(times)).await
}

fn spawn_here<F: Future<Output = ()> + 'static>(task: F) -> JoinHandle<()> {
    spawned();
    spawn_local(task)
}

pub fn current() {
    let runtime = Builder::new_current_thread().enable_time().build().expect("no runtime");

    SUSPENDED.store(false, Ordering::SeqCst);
    let set = LocalSet::new();
    spawned();
    let outside = set.spawn_local(local_yielder(2));
    set.block_on(&runtime, async {
        let handle = Handle::current();
        let suspended = spawn_here(aborted());
        while !SUSPENDED.load(Ordering::SeqCst) {
            yield_now().await;
        }
        abort(suspended).await;
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        tasks.extend((1..=3).map(|n| spawn_here(local_yielder(10 * n))));
        tasks.extend((1..=2).map(|n| spawn(&handle, yielder(10 * n))));
        tasks.push(spawn_here(sleeper(3)));
        tasks.push(spawn(&handle, instant()));
        tasks.push(job(2));
        let panicker = spawn_here(panicker());
        assert!(panicker.await.expect_err("it did not panic").is_panic());
        tasks.push(outside);
        join(tasks).await;
    });
    drop(set);
    drop(runtime);
    assert_eq!(polls("traced::tasks::local_yielder"), 10 + 20 + 30 + 2 + 4);
    assert_eq!(polls("traced::tasks::yielder"), 10 + 20 + 2);
}

async fn first_runtime(times: u64) {
    counted("traced::tasks::first_runtime", yields(times)).await
}

async fn second_runtime(times: u64) {
    counted("traced::tasks::second_runtime", yields(times)).await
}

pub fn several() {
    let first = start("first", 2);
    let second = start("second", 1);
    let tasks: Vec<_> = (0..4).map(|_| spawn(first.handle(), first_runtime(25))).collect();
    let others: Vec<_> = (0..3).map(|_| spawn(second.handle(), second_runtime(50))).collect();

    first.block_on(join(tasks));
    second.block_on(join(others));
    drop(first);
    drop(second);
    assert_eq!(polls("traced::tasks::first_runtime"), 4 * 26);
    assert_eq!(polls("traced::tasks::second_runtime"), 3 * 51);
}

type Sender = UnboundedSender<u64>;
type Receiver = UnboundedReceiver<u64>;

async fn serves(rounds: u64, sender: Sender, mut receiver: Receiver) -> (Sender, Receiver) {
    for round in 0..rounds {
        sender.send(round).expect("pong is gone");
        receiver.recv().await;
    }
    (sender, receiver)
}

async fn returns(rounds: u64, sender: Sender, mut receiver: Receiver) -> (Sender, Receiver) {
    for round in 0..rounds {
        receiver.recv().await;
        sender.send(round).expect("ping is gone");
    }
    (sender, receiver)
}

async fn ping(rounds: u64, sender: Sender, receiver: Receiver) -> (Sender, Receiver) {
    counted("traced::tasks::ping", unconstrained(serves(rounds, sender, receiver))).await
}

async fn pong(rounds: u64, sender: Sender, receiver: Receiver) -> (Sender, Receiver) {
    counted("traced::tasks::pong", unconstrained(returns(rounds, sender, receiver))).await
}

/// With one worker, each of them is suspended when the other one wakes it. Their channels live
/// until both have ended: no wake-up tells that one is closed. Without constraint, none of them
/// wakes itself because both together have received 128 times without a break.
pub fn pingpong(rounds: u64) {
    let runtime = start("pingpong", 1);
    let (to_pong, from_ping) = unbounded_channel();
    let (to_ping, from_pong) = unbounded_channel();
    let pong = spawn(runtime.handle(), pong(rounds, to_ping, from_ping));

    while quiet::check(&[]).is_err() {
        thread::sleep(Duration::from_millis(1));
    }
    let ping = spawn(runtime.handle(), ping(rounds, to_pong, from_pong));
    let kept = runtime.block_on(async { (ping.await, pong.await) });
    drop(runtime);
    drop(kept);
    assert_eq!(polls("traced::tasks::ping"), rounds + 1);
    assert_eq!(polls("traced::tasks::pong"), rounds + 1);
    also("wakes", 2 * rounds);
    also("wakes.traced::tasks::ping", rounds);
    also("wakes.traced::tasks::pong", rounds);
}
