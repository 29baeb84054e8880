//! Polls that take long, and many of them.

use std::backtrace::Backtrace;
use std::future::Future;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{interval, MissedTickBehavior};

use crate::count::{also, counted};
use crate::tasks::{spawn, start, yields};

const STARVED: Duration = Duration::from_millis(150);
const TICK: Duration = Duration::from_millis(1);
const POLLS_A_TICK: u64 = 100;
const TURNS: u64 = 100_000;

/// Runs tasks to their end, each on a worker of its own, and adds up what they return.
fn run<F>(name: &str, tasks: Vec<F>) -> u64
where
    F: Future<Output = u64> + Send + 'static,
{
    let runtime = start(name, tasks.len());
    let handles: Vec<_> = tasks.into_iter().map(|task| spawn(runtime.handle(), task)).collect();

    runtime.block_on(async {
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.expect("a task failed");
        }
        sum
    })
}

fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}

#[inline(never)]
fn planted_stall(time: Duration) -> u64 {
    let start = Instant::now();
    thread::sleep(time);
    nanoseconds(start)
}

#[inline(never)]
fn planted_spin(time: Duration) -> u64 {
    let start = Instant::now();
    let mut turns = 0u64;
    while start.elapsed() < time {
        turns = black_box(turns + 1);
    }
    nanoseconds(start)
}

#[inline(never)]
fn turn(turns: u64) -> u64 {
    (0..turns).fold(turns, |number, turn| black_box(number ^ turn))
}

// Functions of the same code would become one.
#[inline(never)]
fn burns_a_third(turns: u64) -> u64 {
    black_box(turn(turns)) + 1
}

#[inline(never)]
fn burns_the_rest(turns: u64) -> u64 {
    black_box(turn(2 * turns)) + 2
}

async fn shares(seconds: u64) -> u64 {
    let end = Instant::now() + Duration::from_secs(seconds);

    while Instant::now() < end {
        burns_a_third(TURNS);
        burns_the_rest(TURNS);
        yield_now().await;
    }
    0
}

async fn sharing(seconds: u64) -> u64 {
    counted("traced::load::sharing", shares(seconds)).await
}

async fn stalls(time: Duration) -> u64 {
    yields(5).await;
    let stalled = planted_stall(time);
    yields(5).await;
    stalled
}

async fn stalling(time: Duration) -> u64 {
    counted("traced::load::stalling", stalls(time)).await
}

async fn spins(time: Duration) -> u64 {
    yields(5).await;
    let spun = planted_spin(time);
    yields(5).await;
    spun
}

async fn spinning(time: Duration) -> u64 {
    counted("traced::load::spinning", spins(time)).await
}

pub fn stall(milliseconds: u64) {
    also("stall_ns", run("stall", vec![stalling(Duration::from_millis(milliseconds))]));
}

pub fn spin(milliseconds: u64) {
    also("stall_ns", run("spin", vec![spinning(Duration::from_millis(milliseconds))]));
}

pub fn share(seconds: u64) {
    measured(|| run("share", vec![sharing(seconds)]));
    also("parts", 3);
}

async fn starved() {
    counted("traced::load::starved", yields(1)).await
}

/// Spawns a task for which there is no other worker, and keeps its own one.
async fn starves() -> u64 {
    let task = spawn(&Handle::current(), starved());
    let start = Instant::now();
    thread::sleep(STARVED);
    let kept = nanoseconds(start);
    task.await.expect("a task failed");
    kept
}

async fn starving() -> u64 {
    counted("traced::load::starving", starves()).await
}

pub fn starve() {
    also("starved_ns", run("starve", vec![starving()]));
}

async fn keeps_pace(seconds: u64) -> u64 {
    let ticks = seconds * (Duration::from_secs(1).as_nanos() / TICK.as_nanos()) as u64;
    let mut clock = interval(TICK);

    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for _ in 0..ticks {
        clock.tick().await;
        yields(POLLS_A_TICK - 1).await;
    }
    ticks
}

async fn paced(seconds: u64) -> u64 {
    counted("traced::load::paced", keeps_pace(seconds)).await
}

async fn hurries(seconds: u64) -> u64 {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut polls = 0;

    while Instant::now() < end {
        for _ in 0..1000 {
            yield_now().await;
        }
        polls += 1000;
    }
    polls
}

async fn hurrying(seconds: u64) -> u64 {
    counted("traced::load::hurrying", hurries(seconds)).await
}

/// Of getrusage(2): two struct timeval, then what is of no interest here.
const RUSAGE_WORDS: usize = 18;

extern "C" {
    fn getrusage(who: i32, usage: *mut [i64; RUSAGE_WORDS]) -> i32;
}

/// What all threads have used, also those that ended.
fn cpu_time() -> u64 {
    let mut usage = [0; RUSAGE_WORDS];
    // SAFETY: it writes a struct rusage, which has that size on every 64-bit Linux.
    assert_eq!(unsafe { getrusage(0, &mut usage) }, 0);
    ((usage[0] + usage[2]) * 1_000_000_000 + (usage[1] + usage[3]) * 1000) as u64
}

fn measured(run: impl FnOnce() -> u64) {
    let (start, cpu) = (Instant::now(), cpu_time());
    run();
    also("elapsed_ns", nanoseconds(start));
    also("cpu_ns", cpu_time() - cpu);
}

pub fn rate(seconds: u64) {
    measured(|| run("rate", vec![paced(seconds)]));
}

pub fn flat(seconds: u64, workers: u64) {
    measured(|| run("flat", (0..workers).map(|_| hurrying(seconds)).collect()));
}

/// Frames as std numbers them, those of inlined functions too.
fn frames(backtrace: &Backtrace) -> u64 {
    let text = backtrace.to_string();
    let is_frame = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
    text.lines().filter(is_frame).count() as u64
}

async fn looks_back() -> u64 {
    yield_now().await;
    frames(&Backtrace::force_capture())
}

async fn backtracer() -> u64 {
    counted("traced::load::backtracer", looks_back()).await
}

pub fn backtrace() {
    also("frames", run("backtrace", vec![backtracer()]));
}
