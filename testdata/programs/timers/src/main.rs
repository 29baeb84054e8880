//! Tasks that wait for time, in every way that tokio has.

use std::future::{pending, Future};
use std::mem::{align_of, size_of, MaybeUninit};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Builder;
use tokio::task::{yield_now, JoinHandle};
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

async fn rest() {
    yield_now().await;
    here!("timers::rest");
    sleep(FOREVER).await;
}

/// Memory that looks like a future which awaits a timer, but for the timer: nobody polled it.
type Decoy<F> = MaybeUninit<F>;
type Byte = MaybeUninit<u8>;

/// Wherever the timer lies in the future, one of the decoys has one there, and all other bytes are
/// the number of its state at the second await. Volatile: nobody but a debugger reads them.
fn decoys<F>(_: &F) -> [Decoy<F>; 8] {
    let mut decoys = [(); 8].map(|()| Decoy::<F>::uninit());
    for (i, decoy) in decoys.iter_mut().enumerate() {
        let nap = MaybeUninit::new(sleep(FOREVER));
        let (from, to) = (nap.as_ptr().cast::<Byte>(), decoy.as_mut_ptr().cast::<Byte>());
        let (at, size) = (i * align_of::<Sleep>(), size_of::<Sleep>());
        for byte in 0..size_of::<F>() {
            // SAFETY: both have that many bytes, and the decoy no value that could be broken.
            unsafe {
                let inside = byte >= at && byte < at + size;
                let value = if inside { from.add(byte - at).read() } else { Byte::new(4) };
                to.add(byte).write_volatile(value);
            }
        }
    }
    decoys
}

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let guard = runtime.enter();
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
        .block_on(&["timers::rest"])
        .publish();
    let rest = rest();
    let decoys = decoys(&rest);
    drop(guard);
    runtime.block_on(rest);
    // SAFETY: its memory is there; whoever reads it keeps its place from being used for others.
    unsafe { decoys.as_ptr().cast::<Byte>().read_volatile() };
}
