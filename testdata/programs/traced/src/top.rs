//! Tasks that stand out, each in a way of its own.

use std::future::{pending, poll_fn, Future};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{yield_now, JoinHandle};
use tokio::time::sleep;
use truth::say;

use crate::count::{also, counted};
use crate::tasks::{spawn, start};

const STALL: Duration = Duration::from_millis(40);
const LARGE: usize = 20 << 10;

async fn yields_until(end: Instant) -> u64 {
    let mut polls = 0;
    while Instant::now() < end {
        for _ in 0..20 {
            yield_now().await;
        }
        polls += 21;
        sleep(Duration::from_millis(1)).await;
    }
    polls
}

/// It is polled most.
async fn polled_most(end: Instant) -> u64 {
    counted("traced::top::polled_most", yields_until(end)).await
}

async fn stalls_until(end: Instant) -> u64 {
    let mut stalls = 0;
    while Instant::now() < end {
        thread::sleep(STALL);
        stalls += 1;
        sleep(Duration::from_millis(160)).await;
    }
    stalls
}

/// Each of its polls is long.
async fn stalled(end: Instant) -> u64 {
    counted("traced::top::stalled", stalls_until(end)).await
}

/// Wakes itself before it sleeps.
async fn again() {
    let mut polled = false;
    poll_fn(move |context| {
        if polled {
            return Poll::Ready(());
        }
        polled = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

async fn wakes_itself_until(end: Instant) -> u64 {
    let mut own = 0;
    while Instant::now() < end {
        for _ in 0..9 {
            again().await;
        }
        own += 9;
        sleep(Duration::from_millis(20)).await;
    }
    own
}

async fn wakes_itself(end: Instant) -> u64 {
    counted("traced::top::wakes_itself", wakes_itself_until(end)).await
}

async fn wakes_until(end: Instant, notify: Arc<Notify>) -> u64 {
    let mut rounds = 0;
    while Instant::now() < end {
        notify.notify_one();
        rounds += 1;
        sleep(Duration::from_millis(5)).await;
    }
    rounds
}

/// The only one who wakes `woken`.
async fn waker(end: Instant, notify: Arc<Notify>) -> u64 {
    counted("traced::top::waker", wakes_until(end, notify)).await
}

async fn waits_for(notify: Arc<Notify>) -> u64 {
    loop {
        notify.notified().await;
    }
}

async fn woken(notify: Arc<Notify>) -> u64 {
    counted("traced::top::woken", waits_for(notify)).await
}

async fn idle() -> u64 {
    // It keeps no waker, and is none of the futures that are meant to wait for ever.
    counted("traced::top::idle", poll_fn(|_| Poll::Pending)).await
}

async fn carries_until(end: Instant) -> u64 {
    let bytes = black_box([1u8; LARGE]);
    while Instant::now() < end {
        sleep(Duration::from_millis(50)).await;
    }
    u64::from(bytes[LARGE - 1])
}

/// Its future is so large that tokio puts it into a box.
async fn large(end: Instant) -> u64 {
    counted("traced::top::large", carries_until(end)).await
}

static HOGGING: AtomicBool = AtomicBool::new(false);

async fn hogs_until(end: Instant) -> u64 {
    HOGGING.store(true, Ordering::SeqCst);
    // Half a second before the others end.
    thread::sleep(end.saturating_duration_since(Instant::now() + Duration::from_millis(500)));
    pending().await
}

/// Its first poll takes nearly all of the time.
async fn hog(end: Instant) -> u64 {
    counted("traced::top::hog", hogs_until(end)).await
}

struct Tasks {
    runtime: Handle,
    running: Vec<(&'static str, JoinHandle<u64>)>,
}

impl Tasks {
    fn add<F>(&mut self, name: &'static str, task: F)
    where
        F: Future<Output = u64> + Send + 'static,
    {
        let handle = spawn(&self.runtime, task);
        also(&format!("id.{}", name), truth::id(&handle).unwrap_or(0));
        self.running.push((name, handle));
    }
}

/// Prints "running" when all of them exist.
pub fn top(seconds: u64) {
    let runtime = start("top", 4);
    let end = Instant::now() + Duration::from_secs(seconds);
    let notify = Arc::new(Notify::new());
    let mut tasks = Tasks { runtime: runtime.handle().clone(), running: Vec::new() };

    // It has its worker for itself: no other task waits in its queue or for its end.
    HOGGING.store(false, Ordering::SeqCst);
    tasks.add("hog", hog(end));
    while !HOGGING.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(1));
    }
    tasks.add("polled_most", polled_most(end));
    tasks.add("stalled", stalled(end));
    tasks.add("wakes_itself", wakes_itself(end));
    tasks.add("waker", waker(end, notify.clone()));
    tasks.add("woken", woken(notify));
    tasks.add("idle", idle());
    tasks.add("large", large(end));
    say("running");
    runtime.block_on(async {
        for (name, handle) in tasks.running {
            match name {
                "woken" | "idle" | "hog" => handle.abort(),
                "stalled" => also("stalls", handle.await.expect("a task failed")),
                "wakes_itself" => also("own", handle.await.expect("a task failed")),
                "waker" => also("rounds", handle.await.expect("a task failed")),
                _ => drop(handle.await),
            }
        }
    });
    // Waits for the workers to end.
    drop(runtime);
}

async fn naps_until(end: Instant, period: Duration) {
    while Instant::now() < end {
        sleep(period).await;
    }
}

async fn napper(end: Instant, period: Duration) {
    counted("traced::top::napper", naps_until(end, period)).await
}

/// Prints "running" when all of them exist.
pub fn crowd(tasks: u64, seconds: u64, period: u64) {
    let runtime = start("crowd", 2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let period = Duration::from_millis(period);
    let running: Vec<_> =
        (0..tasks).map(|_| spawn(runtime.handle(), napper(end, period))).collect();

    say("running");
    runtime.block_on(async {
        for handle in running {
            handle.await.expect("a task failed");
        }
    });
    drop(runtime);
}
