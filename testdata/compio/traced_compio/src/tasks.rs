//! Tasks that are counted.

use std::future::{pending, poll_fn, Future};
use std::hint;
use std::sync::Mutex;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use async_channel::{unbounded, Receiver, Sender};
use compio::runtime::{spawn, JoinHandle, Runtime};
use futures_lite::future::yield_now;

use crate::count::{also, count, counted, polls};

const STALL: Duration = Duration::from_millis(30);

fn run<F: Future>(future: F) -> F::Output {
    Runtime::new().expect("no runtime").block_on(future)
}

fn start<F: Future + 'static>(task: F) -> JoinHandle<F::Output> {
    count(|counts| counts.spawned += 1);
    spawn(task)
}

async fn join<T>(tasks: Vec<JoinHandle<T>>) {
    for task in tasks {
        assert!(task.await.is_ok());
    }
}

async fn yields(times: u64) {
    for _ in 0..times {
        yield_now().await;
    }
}

async fn yielder(times: u64) {
    counted("traced_compio::tasks::yielder", yields(times)).await
}

async fn instant() {
    counted("traced_compio::tasks::instant", async {}).await
}

async fn sleeps(times: u64) {
    for _ in 0..times {
        compio::time::sleep(Duration::from_millis(3)).await;
    }
}

async fn sleeper(times: u64) {
    counted("traced_compio::tasks::sleeper", sleeps(times)).await
}

async fn child(times: u64) {
    counted("traced_compio::tasks::child", yields(times)).await
}

async fn has_children(children: u64) {
    join((0..children).map(|_| start(child(2))).collect()).await
}

async fn parent(children: u64) {
    counted("traced_compio::tasks::parent", has_children(children)).await
}

async fn panics() {
    yield_now().await;
    panic!("this panic is part of the test");
}

async fn panicker() {
    counted("traced_compio::tasks::panicker", panics()).await
}

async fn never() {
    pending().await
}

async fn aborted() {
    counted("traced_compio::tasks::aborted", never()).await
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

/// Ends a task: the executor takes it once more, and drops its future.
async fn cancel(task: JoinHandle<()>) {
    count(|counts| counts.cancels += 1);
    assert!(task.cancel().await.is_none());
}

pub fn counts() {
    let panics = cfg!(panic = "unwind");

    run(async {
        let suspended = start(aborted());
        yields(3).await;
        cancel(suspended).await;
        cancel(start(queued(Queued))).await;
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        tasks.extend((1..=5).map(|n| start(yielder(10 * n))));
        tasks.extend((0..50).map(|_| start(instant())));
        tasks.push(start(sleeper(3)));
        tasks.push(start(parent(4)));
        if panics {
            assert!(start(panicker()).await.is_err());
        }
        join(tasks).await;
    });
    also("unpolled", 2);
    assert_eq!(polls("traced_compio::tasks::yielder"), 10 + 20 + 30 + 40 + 50 + 5);
    assert_eq!(polls("traced_compio::tasks::instant"), 50);
    assert_eq!(polls("traced_compio::tasks::child"), 4 * 3);
    assert_eq!(polls("traced_compio::tasks::panicker"), 2 * u64::from(panics));
    assert_eq!(polls("traced_compio::tasks::aborted"), 1);
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
    counted("traced_compio::tasks::ping", serves(rounds, sender, receiver)).await
}

async fn pong(rounds: u64, sender: Sender<u64>, receiver: Receiver<u64>) {
    counted("traced_compio::tasks::pong", returns(rounds, sender, receiver)).await
}

/// With one thread, each of them waits when the other one wakes it. The ends of their channels that
/// are kept let no wake-up tell that one is closed.
pub fn pingpong(rounds: u64) {
    let (to_pong, from_ping) = unbounded();
    let (to_ping, from_pong) = unbounded();
    let kept = (to_pong.clone(), from_ping.clone(), to_ping.clone(), from_pong.clone());

    run(async {
        let pong = start(pong(rounds, to_ping, from_ping));
        yields(3).await;
        join(vec![start(ping(rounds, to_pong, from_pong)), pong]).await;
    });
    drop(kept);
    assert_eq!(polls("traced_compio::tasks::ping"), rounds + 1);
    assert_eq!(polls("traced_compio::tasks::pong"), rounds + 1);
    also("wakes", 2 * rounds);
    also("wakes.traced_compio::tasks::ping", rounds);
    also("wakes.traced_compio::tasks::pong", rounds);
}

/// Whether one sleeps when the other wakes it is a matter of chance.
pub fn threads(rounds: u64) {
    let (to_pong, from_ping) = unbounded();
    let (to_ping, from_pong) = unbounded();
    let other = thread::spawn(move || run(async { join(vec![start(pong(rounds, to_ping, from_ping))]).await }));

    run(async { join(vec![start(ping(rounds, to_pong, from_pong))]).await });
    other.join().expect("a thread panicked");
}

async fn short() {
    counted("traced_compio::tasks::short", yields(1)).await
}

/// The memory of one that has ended is free for the next one.
pub fn reuse(tasks: u64) {
    run(async {
        for _ in 0..tasks {
            join(vec![start(short())]).await;
        }
    });
    assert_eq!(polls("traced_compio::tasks::short"), 2 * tasks);
}

pub fn dropped() {
    let runtime = Runtime::new().expect("no runtime");

    runtime.block_on(async {
        for _ in 0..3 {
            start(aborted()).detach();
        }
        yields(3).await;
    });
    for _ in 0..4 {
        count(|counts| counts.spawned += 1);
        runtime.spawn(queued(Queued)).detach();
    }
    drop(runtime);
    also("unpolled", 3 + 4);
    assert_eq!(polls("traced_compio::tasks::aborted"), 3);
}

/// Spawned in place, where the compiler may leave none of the functions between.
pub fn places(tasks: u64) {
    let runtime = Runtime::new().expect("no runtime");
    let outside = runtime.spawn(yielder(1));

    count(|counts| counts.spawned += tasks + 4);
    runtime.block_on(async {
        let inside = spawn(instant());
        let current = Runtime::with_current(|current| current.spawn(short()));
        let mut started: Vec<JoinHandle<()>> = Vec::new();
        for _ in 0..tasks {
            started.push(spawn(child(1)));
        }
        started.extend([outside, inside, current]);
        join(started).await;
        join(vec![compio::runtime::spawn_blocking(|| ())]).await;
    });
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
    let first: Seen = Box::leak(Box::default());
    let second: Seen = Box::leak(Box::default());

    run(async {
        let (first, second) = (start(first_alike(first)), start(second_alike(second)));
        join(vec![first, second]).await;
    });
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
    counted("traced_compio::tasks::staller", stalls()).await
}

pub fn stall() {
    run(async { join(vec![start(staller())]).await });
}

async fn flattened(end: Instant) {
    while Instant::now() < end {
        yield_now().await;
    }
}

async fn flat_out(end: Instant) {
    counted("traced_compio::tasks::flat_out", flattened(end)).await
}

pub fn flat(seconds: u64) {
    run(async { join(vec![start(flat_out(Instant::now() + Duration::from_secs(seconds)))]).await });
}

#[inline(never)]
fn computes() {
    let end = Instant::now() + Duration::from_millis(5);

    while Instant::now() < end {
        hint::spin_loop();
    }
}

async fn burned(end: Instant) {
    while Instant::now() < end {
        computes();
        yield_now().await;
    }
}

async fn burner(end: Instant) {
    counted("traced_compio::tasks::burner", burned(end)).await
}

async fn awaits(end: Receiver<u64>) {
    let _ = end.recv().await;
}

async fn waiter(end: Receiver<u64>) {
    counted("traced_compio::tasks::waiter", awaits(end)).await
}

pub fn burn(seconds: u64) {
    let (end, ended) = unbounded();

    run(async {
        let waiter = start(waiter(ended));
        join(vec![start(burner(Instant::now() + Duration::from_secs(seconds)))]).await;
        drop(end);
        join(vec![waiter]).await;
    });
}
