//! Threads that run an executor and, at this moment, none of its tasks: one has polled a task to its end
//! and wakes who awaits it, another one has taken a task and wakes the next thread. Both wakers wait for
//! a thread's lock.
//!
//! With `other` as argument a third one polls a future of its own beside the executor, which has a task
//! that no executor knows.

use std::future::{pending, poll_fn, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use async_executor::Executor;
use futures_lite::future;
use truth::{here, leak, Blocked, Runtime, Task, Truth};

static TAKEN: Mutex<()> = Mutex::new(());

type Pool = &'static Executor<'static>;
type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Blocks;

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        here!("between_tasks::wake");
        drop(TAKEN.lock());
    }
}

/// Polls once with a waker that waits for the lock.
fn poll_once<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) {
    let waker = Waker::from(Arc::new(Blocks));
    assert!(future.poll(&mut Context::from_waker(&waker)).is_pending());
}

/// The task that was polled: the data of its waker.
static POLLED: Mutex<Option<u64>> = Mutex::new(None);

async fn waits() {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    *POLLED.lock().unwrap() = Some(id);
    here!("between_tasks::waits");
    pending::<()>().await
}

async fn ends() {}

/// The task ends, and its thread wakes who awaits it.
fn run_to_end(pool: Pool) {
    pool.spawn(waits()).detach();
    let mut task = pool.spawn(ends());
    poll_once(Pin::new(&mut task));
    std::mem::forget(task);
    future::block_on(pool.run(pending::<()>()));
}

/// The thread sleeps, as another one does before it. It is woken, takes the task, and wakes the other one.
fn run_next(pool: Pool) {
    let mut tick = Box::pin(pool.tick());
    poll_once(tick.as_mut());
    std::mem::forget(tick);
    let mut run = Box::pin(pool.run(pending::<()>()));
    assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    pool.spawn(waits()).detach();
    future::block_on(run);
}

/// A future with a task of its own, which it polls.
struct Own(Boxed);

impl Future for Own {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<()> {
        if self.0.as_mut().poll(cx).is_pending() {
            here!("between_tasks::own");
            drop(TAKEN.lock());
        }
        Poll::Pending
    }
}

fn run_other(pool: Pool) {
    pool.spawn(waits()).detach();
    future::block_on(pool.run(Own(Box::pin(waits()))));
}

fn executor() -> Runtime {
    Runtime {
        kind: "async_executor",
        flavor: "executor",
        workers: None,
        name: None,
        alive: None,
        queued: None,
    }
}

fn start(run: fn(Pool)) {
    let pool: Pool = leak(Executor::new());
    pool.try_tick(); // allocates its state: they are listed in the order of their addresses
    thread::spawn(move || run(pool));
}

fn publish() {
    Truth::new("between_tasks")
        .runtime(executor())
        .runtime(executor())
        .task(Task::idle(*POLLED.lock().unwrap(), &["between_tasks::waits"]))
        .task(Task::unpolled(None, "between_tasks::waits").on(1))
        .block_on(&[])
        .blocked(vec![Blocked::new("std_mutex", None, None), Blocked::new("std_mutex", None, None)])
        .passes("between_tasks::wake")
        .passes("between_tasks::wake")
        .publish();
}

fn main() {
    leak(TAKEN.lock());
    if std::env::args().nth(1).as_deref() == Some("other") {
        start(run_other);
        Truth::new("between_tasks").passes("between_tasks::own").publish();
    } else {
        start(run_to_end);
        start(run_next);
        while POLLED.lock().unwrap().is_none() {
            thread::yield_now();
        }
        publish();
    }
    loop {
        thread::park();
    }
}
