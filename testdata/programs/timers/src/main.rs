//! Tasks that wait for time, in every way that tokio has.

use std::future::{pending, Future};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::JoinHandle;
use tokio::time::{
    interval, interval_at, sleep, sleep_until, timeout, timeout_at, Instant, Interval, Sleep,
};
use truth::{here, Task, Truth, Wait, FOREVER};

async fn nap() {
    here!("timers::nap");
    sleep(FOREVER).await;
}

async fn nap_until(end: Instant) {
    here!("timers::nap_until");
    sleep_until(end).await;
}

async fn boxed_nap() {
    let mut nap = Box::pin(sleep(FOREVER));
    here!("timers::boxed_nap");
    (&mut nap).await;
}

async fn tick(mut interval: Interval) {
    loop {
        here!("timers::tick");
        interval.tick().await;
    }
}

async fn tick_late(mut interval: Interval) {
    here!("timers::tick_late");
    interval.tick().await;
}

/// Has a timer and does not poll it.
struct Lazy {
    _nap: Pin<Box<Sleep>>,
}

impl Future for Lazy {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

async fn lazy() {
    here!("timers::lazy");
    Lazy { _nap: Box::pin(sleep(FOREVER)) }.await;
}

async fn patient() {
    here!("timers::patient");
    let _ = timeout(FOREVER, pending::<()>()).await;
}

async fn patient_until(end: Instant) {
    here!("timers::patient_until");
    let _ = timeout_at(end, pending::<()>()).await;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let later = Instant::now() + FOREVER;
    // The first tick of this one is due at once.
    let yearly = tokio::spawn(tick(interval(FOREVER)));
    let late = tokio::spawn(tick_late(interval_at(later, FOREVER)));
    let year = || Wait::new("interval").with("period_ns", FOREVER.as_nanos() as i64);
    let sleeps = |handle: JoinHandle<()>, name, polled| {
        Task::idle(truth::id(&handle), &[name]).waits(Wait::new("sleep").with("registered", polled))
    };
    let id = truth::id;
    Truth::new("timers")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(sleeps(tokio::spawn(nap()), "timers::nap", true))
        .task(sleeps(tokio::spawn(nap_until(later)), "timers::nap_until", true))
        .task(sleeps(tokio::spawn(boxed_nap()), "timers::boxed_nap", true))
        .task(sleeps(tokio::spawn(lazy()), "timers::lazy", false))
        .task(Task::idle(id(&yearly), &["timers::tick"]).waits(year()))
        .task(Task::idle(id(&late), &["timers::tick_late"]).waits(year()))
        .task(Task::idle(id(&tokio::spawn(patient())), &["timers::patient"]))
        .task(Task::idle(id(&tokio::spawn(patient_until(later))), &["timers::patient_until"]))
        .block_on(&["timers::main::{async_block#0}"])
        .publish();
    here!("timers::main::{async_block#0}");
    pending::<()>().await;
}
