//! Two runtimes, each with one task that burns CPU in an ordinary function.
//!
//! The first has idle workers beside it. The second has none, so that whatever is woken or
//! spawned there stays in its queues.

use std::hint;
use std::ptr;
use std::sync::mpsc;
use std::thread;

use tokio::sync::oneshot;
use tokio::time::sleep;
use truth::{here, Queued, Task, Truth, FOREVER};

type Ids = Vec<Option<u64>>;

static STOP: u32 = 0;

/// Nothing ever sets STOP, but the compiler shall not know that this function never returns.
#[inline(never)]
fn spin() {
    truth::busy();
    // SAFETY: STOP is an initialised static.
    while unsafe { ptr::read_volatile(&STOP) } == 0 {
        hint::spin_loop();
    }
}

async fn crunch(rounds: u32) {
    for _ in 0..rounds {
        spin();
        sleep(FOREVER).await;
    }
}

async fn work(rounds: u32) {
    crunch(rounds).await;
}

async fn nap() {
    here!("burn::nap");
    sleep(FOREVER).await;
}

async fn never_polled() {
    sleep(FOREVER).await;
}

async fn receive(receiver: oneshot::Receiver<()>) {
    here!("burn::receive");
    let _ = receiver.await;
}

/// Wakes one task, spawns others, says what it did and burns.
async fn fill_queues(report: mpsc::Sender<(Option<u64>, Ids)>) {
    let (sender, receiver) = oneshot::channel();
    let waiter = tokio::spawn(receive(receiver));
    // With one worker, the waiter sleeps whenever we run after it passed its await point.
    while truth::visits("burn::receive") == 0 {
        tokio::task::yield_now().await;
    }
    let _ = sender.send(());
    let spawned = (0..3).map(|_| truth::id(&tokio::spawn(never_polled()))).collect();
    let _ = report.send((truth::id(&waiter), spawned));
    work(1).await;
}

fn main() {
    let idle = truth_tokio::multi_thread(3);
    let full = truth_tokio::multi_thread(1);

    let naps: Vec<_> = (0..2).map(|_| truth::id(&idle.spawn(nap()))).collect();
    let burner = idle.spawn(work(1));

    let (sender, receiver) = mpsc::channel();
    let filler = full.spawn(fill_queues(sender));
    let (waiter, spawned) = receiver.recv().expect("the filler is gone");
    let injected: Ids = (0..2).map(|_| truth::id(&full.spawn(never_polled()))).collect();

    let mut described_full = truth_tokio::describe(full.handle(), "multi_thread", 1);
    described_full.queued = Some(Queued { local: 1 + spawned.len(), injected: injected.len() });
    Truth::new("burn")
        .runtime(truth_tokio::describe(idle.handle(), "multi_thread", 3))
        .runtime(described_full)
        .tasks(naps.into_iter().map(|id| Task::idle(id, &["burn::nap"]).sleeps()))
        .task(Task::running(truth::id(&burner), &["burn::work", "burn::crunch"]))
        .task(
            Task::running(truth::id(&filler), &["burn::fill_queues", "burn::work", "burn::crunch"])
                .on(1),
        )
        .task(Task::woken(waiter, &["burn::receive"]).on(1))
        .tasks(
            spawned
                .into_iter()
                .chain(injected)
                .map(|id| Task::unpolled(id, "burn::never_polled").on(1)),
        )
        .publish();
    loop {
        thread::park();
    }
}
