//! Futures that no compiler made: as roots of tasks and as what is awaited.

mod empty;
mod held;
mod never;
mod paused;
mod recursive;

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::time::{sleep, Sleep};
use truth::{here, Task, Truth, Wait, FOREVER};

type Slot = Arc<Mutex<Option<Waker>>>;

/// Waits for something that only it knows.
struct Parked {
    polls: u32,
    slot: Slot,
}

impl Future for Parked {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        self.polls += 1;
        *self.slot.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A state machine as one wrote it before async fn.
enum Machine<F> {
    Preparing,
    Waiting { timer: Pin<Box<Sleep>>, next: Option<F> },
    Finishing(Pin<Box<F>>),
}

impl<F: Future<Output = u32> + Unpin> Future for Machine<F> {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        loop {
            let next = match &mut *self {
                Machine::Preparing => {
                    Machine::Waiting { timer: Box::pin(sleep(FOREVER)), next: None }
                }
                Machine::Waiting { timer, next } => {
                    if timer.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    match next.take() {
                        Some(next) => Machine::Finishing(Box::pin(next)),
                        None => return Poll::Ready(0),
                    }
                }
                Machine::Finishing(last) => return last.as_mut().poll(cx),
            };
            *self = next;
        }
    }
}

/// Lets something keep its waker, or nothing.
struct Kept {
    keep: Box<dyn FnMut(Waker) + Send>,
}

impl Future for Kept {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        (self.keep)(cx.waker().clone());
        Poll::Pending
    }
}

trait Keeper: Send + Sync {
    fn keep(&self, waker: Waker);
}

struct OfOne {
    waker: Mutex<Option<Waker>>,
}

impl Keeper for OfOne {
    fn keep(&self, waker: Waker) {
        *self.waker.lock().unwrap() = Some(waker);
    }
}

static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

/// Some of the waits that only a look at every waker of the task can tell apart.
fn spawn_kept() -> Vec<Task> {
    let slot = Slot::default();
    let keeper: Arc<dyn Keeper> = Arc::new(OfOne { waker: Mutex::default() });
    let address = Arc::new(AtomicUsize::new(0));
    let kept = |kind, keep: Box<dyn FnMut(Waker) + Send>| {
        let task = tokio::spawn(Kept { keep });
        Task::idle(truth::id(&task), &[]).waits(Wait::new(kind))
    };
    vec![
        kept("nothing", Box::new(drop)),
        kept("waker", Box::new(move |waker| *slot.lock().unwrap() = Some(waker))),
        kept("waker", Box::new(move |waker| keeper.keep(waker))),
        kept("unknown", Box::new(|waker| WAKERS.lock().unwrap().push(waker))),
        kept(
            "unknown",
            Box::new(move |waker| {
                let place = Box::into_raw(Box::new(waker)) as usize;
                address.store(place, Ordering::SeqCst);
            }),
        ),
        kept(
            "unknown",
            Box::new(|waker| {
                std::thread::spawn(move || {
                    std::thread::park();
                    drop(waker);
                });
            }),
        ),
    ]
}

async fn await_parked(slot: Slot) -> u32 {
    here!("handwritten::await_parked");
    Parked { polls: 0, slot }.await
}

async fn await_machine() -> u32 {
    here!("handwritten::await_machine");
    Machine::<Parked>::Preparing.await
}

async fn await_pending() -> u32 {
    here!("handwritten::await_pending");
    future::pending().await
}

async fn await_poll_fn(slot: Slot) -> u32 {
    let mut parked = Parked { polls: 0, slot };
    here!("handwritten::await_poll_fn");
    future::poll_fn(|cx| Pin::new(&mut parked).poll(cx)).await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let slots: Vec<Slot> = (0..4).map(|_| Slot::default()).collect();
    let in_poll_fn = slots[3].clone();
    let bare = [
        tokio::spawn(Parked { polls: 0, slot: slots[0].clone() }),
        tokio::spawn(Machine::<Parked>::Preparing),
        tokio::spawn(future::pending()),
        tokio::spawn(future::poll_fn(move |cx| {
            *in_poll_fn.lock().unwrap() = Some(cx.waker().clone());
            Poll::<u32>::Pending
        })),
    ];
    let parked = tokio::spawn(await_parked(slots[1].clone()));
    let machine = tokio::spawn(await_machine());
    let pending = tokio::spawn(await_pending());
    let poll_fn = tokio::spawn(await_poll_fn(slots[2].clone()));
    Truth::new("handwritten")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(bare.iter().map(|task| Task::idle(truth::id(task), &[])))
        .task(Task::idle(truth::id(&parked), &["handwritten::await_parked"]))
        .task(Task::idle(truth::id(&machine), &["handwritten::await_machine"]))
        .task(Task::idle(truth::id(&pending), &["handwritten::await_pending"]))
        .task(Task::idle(truth::id(&poll_fn), &["handwritten::await_poll_fn"]))
        .tasks(spawn_kept())
        .tasks(recursive::spawn())
        .task(empty::spawn())
        .tasks(held::spawn())
        .tasks(never::spawn())
        .tasks(paused::spawn())
        .block_on(&["handwritten::main::{async_block#0}"])
        .publish();
    here!("handwritten::main::{async_block#0}");
    future::pending::<()>().await;
    drop(slots);
}
