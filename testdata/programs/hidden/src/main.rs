//! Runtimes and LocalSets that no thread is inside: they were driven by `block_on` for a moment and
//! are only reachable by what others wait for or keep, or by nothing.

mod sets;

use std::future::Future;
use std::mem;
use std::sync::mpsc::channel;
use std::sync::Mutex;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{mpsc, oneshot, Semaphore};
use tokio::task::{yield_now, JoinHandle};
use tokio::time::sleep;
use truth::{here, Task, Truth, Wait, FOREVER};

static KEPT: Mutex<Option<Runtime>> = Mutex::new(None);

async fn nap() {
    here!("hidden::nap");
    sleep(FOREVER).await;
}

/// A current_thread runtime whose task was polled and is left.
fn leave<F: Future<Output = ()> + Send + 'static>(future: F) -> (Runtime, JoinHandle<()>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("cannot start a runtime");
    let task = runtime.spawn(future);
    runtime.block_on(async {
        yield_now().await;
        yield_now().await;
    });
    (runtime, task)
}

async fn join(task: JoinHandle<()>) {
    here!("hidden::join");
    let _ = task.await;
}

async fn acquire(permits: &'static Semaphore) {
    here!("hidden::acquire");
    let _ = permits.acquire().await;
}

async fn receive(mut messages: mpsc::Receiver<u32>) {
    here!("hidden::receive");
    let _ = messages.recv().await;
}

/// It is closed when the receiver of a hidden task is dropped.
async fn closed(messages: mpsc::Sender<u32>) {
    here!("hidden::closed");
    messages.closed().await;
}

/// Of a hidden runtime too, and known by nothing but the task of another that awaits it.
async fn relay(inner: JoinHandle<()>) {
    here!("hidden::relay");
    let _ = inner.await;
}

struct Keeper {
    handle: Handle,
}

async fn keep(keeper: Keeper, never: oneshot::Receiver<()>) {
    here!("hidden::keep");
    let _ = never.await;
    drop(keeper.handle);
}

/// A runtime without a task: nothing but this variable leads to it.
async fn own(runtime: Runtime, never: oneshot::Receiver<()>) {
    here!("hidden::own");
    let _ = never.await;
    runtime.shutdown_background();
}

/// Its tasks have ended, and so has it: what is left in memory is no runtime.
fn ended() -> Option<u64> {
    let (runtime, task) = leave(nap_and_end());
    let id = truth::id(&task);
    drop(runtime);
    id
}

async fn nap_and_end() {
    sleep(FOREVER).await;
}

struct Left {
    truth: Truth,
    runtimes: usize,
}

impl Left {
    /// Tells of the runtime and of its task; returns the task's id.
    fn add(mut self, runtime: &Runtime, task: Task) -> Left {
        let described = truth_tokio::describe(runtime.handle(), "current_thread", 1);
        self.truth = self.truth.runtime(described).task(task.on(self.runtimes));
        self.runtimes += 1;
        self
    }
}

fn main() {
    let first = truth_tokio::multi_thread(1);
    let described = truth_tokio::describe(first.handle(), "multi_thread", 1);
    let truth = Truth::new("hidden").runtime(described);
    let mut left = Left { truth, runtimes: 1 };
    let gone = ended();

    // By a join handle: a chain of two, the second of which only the first leads to.
    let (inner, task) = leave(nap());
    let inner_id = truth::id(&task);
    left = left.add(&inner, Task::idle(inner_id, &["hidden::nap"]).sleeps());
    let (outer, task) = leave(relay(task));
    let outer_id = truth::id(&task);
    left = left.add(&outer, Task::idle(outer_id, &["hidden::relay"]).joins(inner_id));
    let joiner = truth::id(&first.spawn(join(task)));

    // By the queue of a semaphore.
    let permits: &'static Semaphore = truth::leak(Semaphore::new(0));
    let (queued, task) = leave(acquire(permits));
    let ahead = truth::id(&task);
    let wait = |n: i32| Wait::new("semaphore").with("position", n);
    left = left.add(&queued, Task::idle(ahead, &["hidden::acquire"]).waits(wait(1)));
    let behind = truth::id(&first.spawn(acquire(permits)));

    // By the waker of a channel.
    let (sender, receiver) = mpsc::channel(1);
    let (channel_rt, task) = leave(receive(receiver));
    let receiving = Task::idle(truth::id(&task), &["hidden::receive"]);
    left = left.add(&channel_rt, receiving.waits(Wait::new("mpsc_recv")));
    let closing = truth::id(&first.spawn(closed(sender)));

    // By a static, by a Handle in a task, and by nothing at all.
    let (kept, task) = leave(nap());
    left = left.add(&kept, Task::idle(truth::id(&task), &["hidden::nap"]).sleeps());
    *KEPT.lock().expect("nobody panics") = Some(kept);
    let (owned, task) = leave(nap());
    left = left.add(&owned, Task::idle(truth::id(&task), &["hidden::nap"]).sleeps());
    let (never, receiver) = oneshot::channel();
    let keeper = Keeper { handle: owned.handle().clone() };
    let keeping = truth::id(&first.spawn(keep(keeper, receiver)));
    mem::forget(owned);
    let unused = Builder::new_current_thread().build().expect("cannot start a runtime");
    left.truth = left.truth.runtime(truth_tokio::describe(unused.handle(), "current_thread", 1));
    left.runtimes += 1;
    let (never_either, receiver) = oneshot::channel();
    let owning = truth::id(&first.spawn(own(unused, receiver)));
    let (lost, task) = leave(nap());
    left = left.add(&lost, Task::idle(truth::id(&task), &["hidden::nap"]).sleeps());
    mem::forget(lost);

    let (told, hear) = channel();
    sets::start(told, first.handle().clone());
    let tasks: Vec<Task> = hear.iter().flatten().collect();

    left.truth
        .task(Task::idle(joiner, &["hidden::join"]).joins(outer_id))
        .task(Task::idle(behind, &["hidden::acquire"]).waits(wait(2)))
        .task(Task::idle(closing, &["hidden::closed"]).waits(Wait::new("mpsc_closed")))
        .task(Task::idle(keeping, &["hidden::keep"]).waits(Wait::new("oneshot")))
        .task(Task::idle(owning, &["hidden::own"]).waits(Wait::new("oneshot")))
        .tasks(tasks)
        .gone(gone)
        .block_on(&["hidden::root"])
        .publish();
    first.block_on(root());
    drop((inner, outer, queued, channel_rt, never, never_either));
}

async fn root() {
    here!("hidden::root");
    std::future::pending::<()>().await;
}
