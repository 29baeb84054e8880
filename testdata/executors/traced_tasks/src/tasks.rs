//! Tasks that are counted.

use std::future::{pending, poll_fn, Future};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use async_channel::{unbounded, Receiver, Sender};
use async_executor::{Executor, LocalExecutor, Task};
use async_io::Timer;
use futures_lite::future::{self, block_on, yield_now};
use futures_lite::FutureExt;
use truth::quiet;

use crate::count::{also, count, counted, polls};

const STALL: Duration = Duration::from_millis(30);

/// An executor, and the threads that run it.
struct Pool {
    executor: Arc<Executor<'static>>,
    stop: Sender<()>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    fn new(threads: usize) -> Pool {
        let executor = Arc::new(Executor::new());
        let (stop, stopped) = unbounded::<()>();
        let threads = (0..threads)
            .map(|_| {
                let (executor, stopped) = (executor.clone(), stopped.clone());
                thread::spawn(move || run_until(&executor, &stopped))
            })
            .collect();
        Pool { executor, stop, threads }
    }

    fn spawn<F>(&self, task: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn(&self.executor, task)
    }

    fn end(self) {
        self.stop.close();
        for thread in self.threads {
            thread.join().expect("a thread panicked");
        }
    }
}

/// A panic of a task reaches the thread that runs it, but in newer versions.
fn run_until(executor: &Executor, stopped: &Receiver<()>) {
    while !stopped.is_closed() {
        let _ = catch_unwind(AssertUnwindSafe(|| block_on(executor.run(stopped.recv()))));
    }
}

fn spawned() {
    count(|counts| counts.spawned += 1);
}

fn spawn<F>(executor: &Executor<'static>, task: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawned();
    executor.spawn(task)
}

async fn join<T>(tasks: Vec<Task<T>>) {
    for task in tasks {
        task.await;
    }
}

async fn yields(times: u64) {
    for _ in 0..times {
        yield_now().await;
    }
}

async fn yielder(times: u64) {
    counted("traced_tasks::tasks::yielder", yields(times)).await
}

async fn instant() {
    counted("traced_tasks::tasks::instant", async {}).await
}

async fn sleeps(times: u64) {
    for _ in 0..times {
        Timer::after(Duration::from_millis(3)).await;
    }
}

async fn sleeper(times: u64) {
    counted("traced_tasks::tasks::sleeper", sleeps(times)).await
}

async fn child(times: u64) {
    counted("traced_tasks::tasks::child", yields(times)).await
}

async fn has_children(executor: Arc<Executor<'static>>, children: u64) {
    join((0..children).map(|_| spawn(&executor, child(2))).collect()).await
}

async fn parent(executor: Arc<Executor<'static>>, children: u64) {
    counted("traced_tasks::tasks::parent", has_children(executor, children)).await
}

async fn panics() {
    yield_now().await;
    panic!("this panic is part of the test");
}

async fn panicker() {
    counted("traced_tasks::tasks::panicker", panics()).await
}

static SUSPENDED: AtomicBool = AtomicBool::new(false);

async fn never() {
    SUSPENDED.store(true, Ordering::SeqCst);
    pending().await
}

async fn aborted() {
    counted("traced_tasks::tasks::aborted", never()).await
}

/// Ends a task that waits: the executor runs it once more, and does not poll its future.
async fn cancel(task: Task<()>) {
    count(|counts| counts.cancels += 1);
    assert!(task.cancel().await.is_none());
}

async fn panicked(task: Task<()>) {
    assert!(AssertUnwindSafe(task).catch_unwind().await.is_err());
}

fn wait_for_quiet() {
    while quiet::check(&[]).is_err() {
        thread::sleep(Duration::from_millis(1));
    }
}

pub fn counts() {
    let pool = Pool::new(3);

    SUSPENDED.store(false, Ordering::SeqCst);
    let suspended = pool.spawn(aborted());
    // When every thread sleeps, none of them is in its poll.
    while !SUSPENDED.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
    wait_for_quiet();
    block_on(async {
        cancel(suspended).await;
        let mut tasks: Vec<Task<()>> = Vec::new();
        tasks.extend((1..=5).map(|n| pool.spawn(yielder(10 * n))));
        tasks.extend((0..50).map(|_| pool.spawn(instant())));
        tasks.push(pool.spawn(sleeper(3)));
        tasks.push(pool.spawn(parent(pool.executor.clone(), 4)));
        panicked(pool.spawn(panicker())).await;
        join(tasks).await;
    });
    pool.end();
    assert_eq!(polls("traced_tasks::tasks::yielder"), 10 + 20 + 30 + 40 + 50 + 5);
    assert_eq!(polls("traced_tasks::tasks::instant"), 50);
    assert_eq!(polls("traced_tasks::tasks::child"), 4 * 3);
    assert_eq!(polls("traced_tasks::tasks::panicker"), 2);
    assert_eq!(polls("traced_tasks::tasks::aborted"), 1);
}

async fn local_yielder(times: u64) {
    counted("traced_tasks::tasks::local_yielder", yields(times)).await
}

pub fn local() {
    let executor = LocalExecutor::new();

    SUSPENDED.store(false, Ordering::SeqCst);
    block_on(executor.run(async {
        spawned();
        let suspended = executor.spawn(aborted());
        while !SUSPENDED.load(Ordering::SeqCst) {
            yield_now().await;
        }
        cancel(suspended).await;
        let mut tasks: Vec<Task<()>> = Vec::new();
        for n in 1..=3 {
            spawned();
            tasks.push(executor.spawn(local_yielder(10 * n)));
        }
        spawned();
        tasks.push(executor.spawn(sleeper(3)));
        join(tasks).await;
    }));
    drop(executor);
    assert_eq!(polls("traced_tasks::tasks::local_yielder"), 10 + 20 + 30 + 3);
}

async fn serves(rounds: u64, sender: Sender<u64>, receiver: Receiver<u64>) {
    for round in 0..rounds {
        sender.send(round).await.expect("pong is gone");
        receiver.recv().await.expect("pong is gone");
    }
}

async fn returns(rounds: u64, sender: Sender<u64>, receiver: Receiver<u64>) {
    for _ in 0..rounds {
        let round = receiver.recv().await.expect("ping is gone");
        sender.send(round).await.expect("ping is gone");
    }
}

async fn ping(rounds: u64, sender: Sender<u64>, receiver: Receiver<u64>) {
    counted("traced_tasks::tasks::ping", serves(rounds, sender, receiver)).await
}

async fn pong(rounds: u64, sender: Sender<u64>, receiver: Receiver<u64>) {
    counted("traced_tasks::tasks::pong", returns(rounds, sender, receiver)).await
}

/// With one thread, each of them waits when the other one wakes it. The ends of their channels that
/// are kept let no wake-up tell that one is closed.
pub fn pingpong(rounds: u64) {
    let pool = Pool::new(1);
    let (to_pong, from_ping) = unbounded();
    let (to_ping, from_pong) = unbounded();
    let kept = (to_pong.clone(), from_ping.clone(), to_ping.clone(), from_pong.clone());
    let pong = pool.spawn(pong(rounds, to_ping, from_ping));

    wait_for_quiet();
    let ping = pool.spawn(ping(rounds, to_pong, from_pong));
    block_on(async {
        ping.await;
        pong.await;
    });
    pool.end();
    drop(kept);
    assert_eq!(polls("traced_tasks::tasks::ping"), rounds + 1);
    assert_eq!(polls("traced_tasks::tasks::pong"), rounds + 1);
    also("wakes", 2 * rounds);
    also("wakes.traced_tasks::tasks::ping", rounds);
    also("wakes.traced_tasks::tasks::pong", rounds);
}

async fn short() {
    counted("traced_tasks::tasks::short", yields(1)).await
}

/// The memory of one that has ended is free for the next one.
pub fn reuse(tasks: u64) {
    let executor = LocalExecutor::new();

    block_on(executor.run(async {
        for _ in 0..tasks {
            spawned();
            executor.spawn(short()).await;
        }
    }));
    assert_eq!(polls("traced_tasks::tasks::short"), 2 * tasks);
}

struct Queued;

impl Drop for Queued {
    fn drop(&mut self) {
        count(|counts| counts.terminated += 1);
    }
}

async fn queued(_queued: Queued) {
    unreachable!("it was polled");
}

/// No thread runs it: what is not polled here never is.
pub fn dropped() {
    let executor = Executor::new();

    for _ in 0..3 {
        spawn(&executor, aborted()).detach();
    }
    while executor.try_tick() {}
    for _ in 0..4 {
        spawn(&executor, queued(Queued)).detach();
    }
    drop(executor);
    assert_eq!(polls("traced_tasks::tasks::aborted"), 3);
}

type Seen = &'static Mutex<Vec<u64>>;

/// Its address, by the waker with which it is polled.
async fn rests(seen: Seen) {
    for _ in 0..3 {
        poll_fn(|context| {
            let data = context.waker().data() as u64;
            seen.lock().expect("a task panicked").push(data);
            Poll::Ready(())
        })
        .await;
        yield_now().await;
    }
}

async fn first_alike(seen: Seen) {
    rests(seen).await
}

async fn second_alike(seen: Seen) {
    rests(seen).await
}

pub fn alikes() {
    let pool = Pool::new(1);
    let first: Seen = Box::leak(Box::default());
    let second: Seen = Box::leak(Box::default());

    block_on(future::zip(pool.spawn(first_alike(first)), pool.spawn(second_alike(second))));
    pool.end();
    for (name, seen) in [("first_alike", first), ("second_alike", second)] {
        let seen = seen.lock().expect("a task panicked");
        assert_eq!(seen.len(), 3);
        also(&format!("at.{}", name), seen[0]);
    }
    also("alikes", 2 * 4);
}

#[inline(never)]
fn planted_stall() {
    let start = Instant::now();
    thread::sleep(STALL);
    also("stall_ns", start.elapsed().as_nanos() as u64);
}

async fn stalls() {
    yields(5).await;
    planted_stall();
    yields(5).await;
}

async fn staller() {
    counted("traced_tasks::tasks::staller", stalls()).await
}

pub fn stall() {
    let pool = Pool::new(1);

    block_on(pool.spawn(staller()));
    pool.end();
}

async fn on_tokio(times: u64) {
    let yields = async move {
        for _ in 0..times {
            tokio::task::yield_now().await;
        }
    };
    counted("traced_tasks::tasks::on_tokio", yields).await
}

pub fn both() {
    count(|counts| counts.workers += 2);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("no runtime");
    let pool = Pool::new(2);
    let ours: Vec<_> = (0..4).map(|_| pool.spawn(yielder(25))).collect();
    let theirs: Vec<_> = (0..3)
        .map(|_| {
            spawned();
            runtime.spawn(on_tokio(50))
        })
        .collect();

    block_on(join(ours));
    runtime.block_on(async {
        for task in theirs {
            task.await.expect("a task failed");
        }
    });
    pool.end();
    // Waits for the workers to end.
    drop(runtime);
    assert_eq!(polls("traced_tasks::tasks::yielder"), 4 * 26);
    assert_eq!(polls("traced_tasks::tasks::on_tokio"), 3 * 51);
}

async fn flattened(end: Instant) {
    while Instant::now() < end {
        yield_now().await;
    }
}

async fn flat_out(end: Instant) {
    counted("traced_tasks::tasks::flat_out", flattened(end)).await
}

pub fn flat(seconds: u64) {
    let pool = Pool::new(1);

    block_on(pool.spawn(flat_out(Instant::now() + Duration::from_secs(seconds))));
    pool.end();
}
