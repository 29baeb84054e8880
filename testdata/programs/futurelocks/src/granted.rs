//! What was given to a future that nobody polls: its task has it, and others wait for that task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::poll_immediate;
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};
use truth::graph::{address, Node};
use truth::tree::at;
use truth::{here, leak, Task, Wait};

use crate::{passed, Tasks};

/// Polls it once, so that it queues, and never again.
async fn keep<T, F: Future<Output = ()>>(make: fn(&'static T) -> F, of: &'static T) {
    let mut future = make(of);
    // It is not moved any more.
    let pinned = unsafe { Pin::new_unchecked(&mut future) };
    assert!(poll_immediate(pinned).await.is_none());
    here!("futurelocks::granted::keep");
    tokio::time::sleep(truth::FOREVER).await;
}

/// The same, and waits for a task that queues behind that future.
async fn keep_and_join<F, G>(future: F, other: G, id: std::sync::mpsc::Sender<Option<u64>>)
where
    F: Future<Output = ()>,
    G: Future<Output = ()> + Send + 'static,
{
    tokio::pin!(future);
    assert!(poll_immediate(future.as_mut()).await.is_none());
    let handle = tokio::spawn(other);
    let _ = id.send(truth::id(&handle));
    here!("futurelocks::granted::keep_and_join");
    let _ = handle.await;
}

async fn lock(lock: &'static Mutex<u32>) {
    here!("futurelocks::granted::lock");
    *lock.lock().await += 1;
}

async fn write(lock: &'static RwLock<u32>) {
    here!("futurelocks::granted::write");
    *lock.write().await += 1;
}

async fn read(lock: &'static RwLock<u32>) {
    here!("futurelocks::granted::read");
    let _ = *lock.read().await;
}

async fn acquire(semaphore: &'static Semaphore) {
    here!("futurelocks::granted::acquire");
    let _ = semaphore.acquire().await;
}

async fn notified(notify: &'static Notify) {
    here!("futurelocks::granted::notified");
    notify.notified().await;
}

/// The wait of a future that got what it waits for, and what one task waits for behind it.
fn given(kind: &'static str) -> Wait {
    Wait::new(kind).with("granted", true).with("behind", 1)
}

/// A task that keeps a future, which has queued when this returns.
async fn start_keep<T, F>(
    tasks: &mut Tasks,
    chain: &'static str,
    wait: Wait,
    make: fn(&'static T) -> F,
    of: &'static T,
) -> Node
where
    T: Sync,
    F: Future<Output = ()> + Send + 'static,
{
    let before = truth::visits("futurelocks::granted::keep");
    let (handle, node) = Tasks::start(keep(make, of));
    let tree = at("futurelocks::granted::keep").held(at(chain));
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree).beside(wait));
    passed("futurelocks::granted::keep", before + 1).await;
    node
}

async fn mutex(tasks: &mut Tasks) {
    let of: &'static Mutex<u32> = leak(Mutex::new(0));
    let guard = of.lock().await;
    let wait = given("mutex");
    let keeper = start_keep(tasks, "futurelocks::granted::lock", wait, lock, of).await;
    drop(guard);
    let other = tasks.spawn(lock(of), "futurelocks::granted::lock", Wait::new("mutex"));
    tasks.graph.waits(other, "mutex", address(of), &[keeper]);
    tasks.graph.unpolled(keeper, address(of));
}

async fn rwlock(tasks: &mut Tasks) {
    let of: &'static RwLock<u32> = leak(RwLock::new(0));
    let guard = of.read().await;
    let wait = given("rwlock_write");
    let keeper = start_keep(tasks, "futurelocks::granted::write", wait, write, of).await;
    drop(guard);
    let other = tasks.spawn(read(of), "futurelocks::granted::read", Wait::new("rwlock_read"));
    tasks.graph.waits(other, "rwlock_read", address(of), &[keeper]);
    tasks.graph.unpolled(keeper, address(of));

    let of: &'static RwLock<u32> = leak(RwLock::new(0));
    let guard = of.write().await;
    let wait = given("rwlock_read");
    let keeper = start_keep(tasks, "futurelocks::granted::read", wait, read, of).await;
    drop(guard);
    let other = tasks.spawn(write(of), "futurelocks::granted::write", Wait::new("rwlock_write"));
    tasks.graph.waits(other, "rwlock_write", address(of), &[keeper]);
    tasks.graph.unpolled(keeper, address(of));
}

async fn semaphore(tasks: &mut Tasks) {
    let of: &'static Semaphore = leak(Semaphore::new(1));
    let permit = of.acquire().await.unwrap();
    let wait = given("semaphore");
    let keeper = start_keep(tasks, "futurelocks::granted::acquire", wait, acquire, of).await;
    drop(permit);
    let other = tasks.spawn(acquire(of), "futurelocks::granted::acquire", Wait::new("semaphore"));
    tasks.graph.waits(other, "semaphore", address(of), &[keeper]);
    tasks.graph.unpolled(keeper, address(of));
}

/// Of the two that wait, one is told: the one that nobody polls.
async fn notify(tasks: &mut Tasks) {
    let of: &'static Notify = leak(Notify::new());
    let phrase = "notify, notified, but nobody polls the future that got it";
    let wait = Wait::new("notify").with("phrase", phrase).with("notified", true);
    start_keep(tasks, "futurelocks::granted::notified", wait, notified, of).await;
    of.notify_one();
    tasks.spawn(notified(of), "futurelocks::granted::notified", Wait::new("notify"));
}

/// A combinator that polls its future once, and then only waits to be woken.
struct Once<F> {
    future: Pin<Box<F>>,
    polled: bool,
}

impl<F: Future> Future for Once<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<F::Output> {
        if self.polled {
            return Poll::Pending;
        }
        self.polled = true;
        self.future.as_mut().poll(context)
    }
}

async fn poll_once(of: &'static Mutex<u32>) {
    let once = Once { future: Box::pin(lock(of)), polled: false };
    here!("futurelocks::granted::poll_once");
    once.await;
}

/// The wake-up of what was given reaches the task, and does not reach the future. Nobody has a waker of
/// the task any more.
async fn passed_over(tasks: &mut Tasks) {
    let of: &'static Mutex<u32> = leak(Mutex::new(0));
    let guard = of.lock().await;
    let before = truth::visits("futurelocks::granted::lock");
    let tree = at("futurelocks::granted::poll_once").polls(at("futurelocks::granted::lock"));
    let phrase = "mutex lock, granted; its task was polled since and did not poll it";
    let wait = Wait::new("mutex")
        .with("phrase", phrase)
        .with("passed_over", "certain")
        .with("armed", "no");
    let task = tasks.spawn_tree(poll_once(of), tree, Some(wait));
    tasks.graph.silent(task);
    passed("futurelocks::granted::lock", before + 1).await;
    drop(guard);
}

/// Who has it waits for who wants it. The future was moved before it was polled.
async fn behind_itself(tasks: &mut Tasks) {
    let of: &'static Mutex<u32> = leak(Mutex::new(0));
    let guard = of.lock().await;
    let (id, ids) = std::sync::mpsc::channel();
    let (handle, keeper) = Tasks::start(keep_and_join(lock(of), lock(of), id));
    passed("futurelocks::granted::keep_and_join", 1).await;
    drop(guard);
    let other = ids.recv().expect("it has started nothing");
    let row = Task::idle(truth::id(&handle), &["futurelocks::granted::keep_and_join"]);
    tasks.tasks.push(row.joins(other));
    let row = Task::idle(other, &["futurelocks::granted::lock"]).waits(Wait::new("mutex"));
    tasks.tasks.push(row);
    tasks.graph.waits(Node::task(other), "mutex", address(of), &[keeper]);
    tasks.graph.futurelock(keeper, address(of), true);
    tasks.graph.behind(Node::task(other));
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    mutex(tasks).await;
    rwlock(tasks).await;
    semaphore(tasks).await;
    notify(tasks).await;
    passed_over(tasks).await;
    behind_itself(tasks).await;
}
