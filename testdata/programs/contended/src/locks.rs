//! Cycles of locks with a way out, and what a guard leaves behind when it has gone.

use std::future::Future;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use futures_util::future::{poll_fn, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::FutureExt;
use tokio::sync::{Barrier, Mutex, OwnedMutexGuard, RwLock, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use truth::graph::{address, Node};
use truth::tree::{at, library};
use truth::{here, Task, Wait, FOREVER};

use crate::{for_mutex, leak, lock, nap, spawn_hold, waits_for, Lock, Tasks};

async fn write(lock: Arc<RwLock<u32>>) {
    here!("contended::locks::write");
    *lock.write().await += 1;
}

/// A writer behind readers that sleep, and a reader behind the writer.
async fn starving(tasks: &mut Tasks) {
    let lock = Arc::new(RwLock::new(0));
    let first = spawn_hold(tasks, lock.clone().read_owned().await);
    let second = spawn_hold(tasks, lock.clone().read_owned().await);
    let wait = Wait::new("rwlock_write").with("object", Arc::as_ptr(&lock));
    let writer = tasks.spawn(write(lock.clone()), "contended::locks::write", wait);
    tasks.graph.waits(writer, "rwlock_write", address(&*lock), &[first, second]);
}

async fn lock_both(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let mut held = own.lock().await;
    all.wait().await;
    here!("contended::locks::lock_both");
    let wanted = other.lock().await;
    *held += *wanted;
}

const LOCK_BOTH: &str = "contended::locks::lock_both";

/// One of the arms is in a cycle, the other is a timer.
async fn select_timer(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let mut held = own.lock().await;
    all.wait().await;
    here!("contended::locks::select_timer");
    tokio::select! {
        wanted = other.lock() => *held += *wanted,
        _ = nap() => *held = 0,
    }
}

async fn with_timeout(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let mut held = own.lock().await;
    all.wait().await;
    here!("contended::locks::with_timeout");
    if let Ok(wanted) = timeout(FOREVER, other.lock()).await {
        *held += *wanted;
    }
}

/// The same with all that it does within the time.
async fn within(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    here!("contended::locks::within");
    let _ = timeout(FOREVER, lock_both(own, other, all)).await;
}

async fn fail_later() -> Result<(), ()> {
    here!("contended::locks::fail_later");
    nap().await;
    Err(())
}

async fn try_lock(wanted: &'static Lock) -> Result<(), ()> {
    here!("contended::locks::try_lock");
    *wanted.lock().await += 1;
    Ok(())
}

/// An arm that fails is the end of all.
async fn try_both(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let held = own.lock().await;
    all.wait().await;
    here!("contended::locks::try_both");
    let _ = tokio::try_join!(try_lock(other), fail_later());
    drop(held);
}

/// Looks at something else whenever it is polled, and others may wake it.
async fn looks_aside(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let held = own.lock().await;
    all.wait().await;
    let mut wanted = Box::pin(other.lock());
    let either = poll_fn(|cx| {
        *STOPPED.lock().expect("poisoned") = Some(cx.waker().clone());
        wanted.as_mut().poll(cx).map(|_| ())
    });
    here!("contended::locks::looks_aside");
    either.await;
    drop(held);
}

/// Who waits until all is stopped.
static STOPPED: std::sync::Mutex<Option<Waker>> = std::sync::Mutex::new(None);

/// Any member of the set lets it go on.
async fn next_of(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let mut held = own.lock().await;
    all.wait().await;
    let mut set: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    set.push(other.lock().map(|_| ()).boxed());
    set.push(nap().boxed());
    here!("contended::locks::next_of");
    set.next().await;
    *held += 1;
}

/// A task in this way, and one in another that waits for what the first has.
fn ways_out(tasks: &mut Tasks) {
    let mut perhaps = Vec::new();
    let mut pair =
        |make: &dyn Fn(&mut Tasks, &'static Lock, &'static Lock, &'static Barrier) -> Node| {
            let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
            let first = make(tasks, a, b, all);
            let second = tasks.spawn(lock_both(b, a, all), LOCK_BOTH, for_mutex(a));
            waits_for(tasks, first, b, second);
            waits_for(tasks, second, a, first);
            (first, second)
        };
    pair(&|tasks, a, b, all| {
        let tree = at("contended::locks::select_timer");
        let tree = tree.select(0, library()).select(1, at("contended::nap"));
        tasks.spawn_tree(select_timer(a, b, all), tree, Some(for_mutex(b)))
    });
    pair(&|tasks, a, b, all| {
        let tree = at("contended::locks::with_timeout");
        tasks.spawn_tree(with_timeout(a, b, all), tree, Some(for_mutex(b)))
    });
    pair(&|tasks, a, b, all| {
        let tree = at("contended::locks::within").polls(at(LOCK_BOTH));
        tasks.spawn_tree(within(a, b, all), tree, Some(for_mutex(b)))
    });
    // join! and try_join! look the same.
    let (first, second) = pair(&|tasks, a, b, all| {
        let fails = at("contended::locks::fail_later").then(at("contended::nap"));
        let tree = at("contended::locks::try_both");
        let tree = tree.join(0, at("contended::locks::try_lock")).join(1, fails);
        tasks.spawn_tree(try_both(a, b, all), tree, Some(for_mutex(b)))
    });
    perhaps.push([first, second]);
    pair(&|tasks, a, b, all| {
        let tree = at("contended::locks::next_of").set(library()).set(at("contended::nap"));
        tasks.spawn_tree(next_of(a, b, all), tree, Some(for_mutex(b)))
    });
    let (first, second) = pair(&|tasks, a, b, all| {
        let tree = at("contended::locks::looks_aside");
        tasks.spawn_tree(looks_aside(a, b, all), tree, Some(for_mutex(b)))
    });
    perhaps.push([first, second]);
    perhaps.iter().for_each(|members| tasks.graph.perhaps(members));
}

async fn acquire(semaphore: Arc<Semaphore>) {
    here!("contended::locks::acquire");
    drop(semaphore.acquire().await);
}

/// Has one of two permits and waits for a child, which waits for one; somebody else has the other.
async fn with_permit(semaphore: Arc<Semaphore>, all: &'static Barrier, child: JoinHandle<()>) {
    let permit = semaphore.acquire().await;
    all.wait().await;
    here!("contended::locks::with_permit");
    let _ = child.await;
    drop(permit);
}

async fn acquire_late(semaphore: Arc<Semaphore>, all: &'static Barrier) {
    all.wait().await;
    here!("contended::locks::acquire_late");
    acquire(semaphore).await;
}

async fn permits(tasks: &mut Tasks) {
    let (semaphore, all) = (Arc::new(Semaphore::new(2)), leak(Barrier::new(2)));
    let other = semaphore.clone().acquire_owned().await.expect("closed");
    let other = spawn_hold(tasks, other);
    let (child, waits) = Tasks::start(acquire_late(semaphore.clone(), all));
    let tree = at("contended::locks::acquire_late").then(at("contended::locks::acquire"));
    let wait = Wait::new("semaphore").with("object", Arc::as_ptr(&semaphore));
    let id = truth::id(&child);
    tasks.tasks.push(Task::idle_tree(id, tree).beside(wait));
    let parent = with_permit(semaphore.clone(), all, child);
    let wait = Wait::new("join").with("task", id);
    let parent = tasks.spawn(parent, "contended::locks::with_permit", wait);
    tasks.graph.waits(waits, "semaphore", address(&*semaphore), &[parent, other]);
    tasks.graph.waits(parent, "join", None, &[waits]);
}

async fn add(results: &'static Lock) {
    here!("contended::locks::add");
    *results.lock().await += 1;
}

/// One of the children needs what it holds, the other sleeps.
async fn gather(results: &'static Lock, report: std::sync::mpsc::Sender<[Option<u64>; 2]>) {
    let total = results.lock().await;
    let mut children = JoinSet::new();
    let ids = [truth::id(&children.spawn(add(results))), truth::id(&children.spawn(nap()))];
    let _ = report.send(ids);
    here!("contended::locks::gather");
    children.join_next().await;
    drop(total);
}

fn parents(tasks: &mut Tasks) {
    let results = lock();
    let (report, reported) = std::sync::mpsc::channel();
    let wait = Wait::new("join_set");
    let parent = tasks.spawn(gather(results, report), "contended::locks::gather", wait);
    let [adds, naps] = reported.recv().expect("the parent is gone");
    let task = Task::idle(adds, &["contended::locks::add"]).waits(for_mutex(results));
    tasks.tasks.push(task);
    tasks.tasks.push(Task::idle(naps, &["contended::nap"]).sleeps());
    waits_for(tasks, Node::task(adds), results, parent);
    tasks.graph.waits(parent, "join_set", None, &[Node::task(adds), Node::task(naps)]);
}

type Shared = Arc<Mutex<u32>>;

/// Had the first, and dropped it before it waits for the second.
async fn drop_first(first: Shared, second: Shared, next: std::sync::mpsc::Sender<()>) {
    let guard = first.lock_owned().await;
    tokio::task::yield_now().await;
    drop(guard);
    let _ = next.send(());
    here!("contended::locks::drop_first");
    *second.lock().await += 1;
}

/// Had the first and used it, so that the compiler keeps its place.
async fn use_first(first: Shared, second: Shared, next: std::sync::mpsc::Sender<()>) {
    let mut guard = first.lock_owned().await;
    *guard += 1;
    drop(guard);
    let _ = next.send(());
    here!("contended::locks::use_first");
    *second.lock().await += 1;
}

/// Had the first, and gave it away.
async fn give_first(
    first: Shared,
    second: Shared,
    next: std::sync::mpsc::Sender<OwnedMutexGuard<u32>>,
) {
    let guard = first.lock_owned().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let _ = next.send(guard);
    here!("contended::locks::give_first");
    *second.lock().await += 1;
}

/// Has the second and waits for the first.
async fn want_first(first: Shared, second: OwnedMutexGuard<u32>) {
    here!("contended::locks::want_first");
    *first.lock().await += 1;
    drop(second);
}

fn for_shared(lock: &Shared) -> Wait {
    Wait::new("mutex").with("object", Arc::as_ptr(lock))
}

/// What is left of a guard in a frame where it no longer is must not be taken for one.
fn traces(tasks: &mut Tasks) {
    gone(tasks, |tasks, first, second| {
        let (next, received) = std::sync::mpsc::channel();
        let task = give_first(first.clone(), second.clone(), next);
        let task = tasks.spawn(task, "contended::locks::give_first", for_shared(&second));
        (task, received.recv().expect("it is gone"), false)
    });
    gone(tasks, |tasks, first, second| {
        let (next, dropped) = std::sync::mpsc::channel();
        let task = drop_first(first.clone(), second.clone(), next);
        let task = tasks.spawn(task, "contended::locks::drop_first", for_shared(&second));
        dropped.recv().expect("it is gone");
        (task, first.try_lock_owned().expect("it is locked"), false)
    });
    gone(tasks, |tasks, first, second| {
        let (next, dropped) = std::sync::mpsc::channel();
        let task = use_first(first.clone(), second.clone(), next);
        let task = tasks.spawn(task, "contended::locks::use_first", for_shared(&second));
        dropped.recv().expect("it is gone");
        (task, first.try_lock_owned().expect("it is locked"), true)
    });
}

/// Guards that no task has.
static LENT: std::sync::Mutex<Vec<OwnedMutexGuard<u32>>> = std::sync::Mutex::new(Vec::new());

/// Used the first, and put it where nobody looks.
async fn lend_first(first: Shared, second: Shared, lent: std::sync::mpsc::Sender<()>) {
    let mut guard = first.lock_owned().await;
    *guard += 1;
    LENT.lock().expect("poisoned").push(guard);
    let _ = lent.send(());
    here!("contended::locks::lend_first");
    *second.lock().await += 1;
}

fn lent(tasks: &mut Tasks) {
    let (first, second) = (Shared::default(), Shared::default());
    let guard = second.clone().try_lock_owned().expect("it is locked");
    let (lent, when_lent) = std::sync::mpsc::channel();
    let task = lend_first(first.clone(), second.clone(), lent);
    let task = tasks.spawn(task, "contended::locks::lend_first", for_shared(&second));
    when_lent.recv().expect("it is gone");
    let name = "contended::locks::want_first";
    let other = tasks.spawn(want_first(first.clone(), guard), name, for_shared(&first));
    waits_for(tasks, task, &second, other);
    tasks.graph.perhaps(&[task, other]);
}

/// Makes a task that had the first and waits for the second, which another has that waits for
/// the first, which a third one has that sleeps.
fn gone(
    tasks: &mut Tasks,
    make: impl FnOnce(&mut Tasks, Shared, Shared) -> (Node, OwnedMutexGuard<u32>, bool),
) {
    let (first, second) = (Shared::default(), Shared::default());
    let guard = second.clone().try_lock_owned().expect("it is locked");
    let (task, had, stale) = make(tasks, first.clone(), second.clone());
    let holder = spawn_hold(tasks, had);
    let name = "contended::locks::want_first";
    let other = tasks.spawn(want_first(first.clone(), guard), name, for_shared(&first));
    waits_for(tasks, task, &second, other);
    match stale {
        true => tasks.graph.waits_or_stale(other, "mutex", address(&*first), &[holder]),
        false => waits_for(tasks, other, &first, holder),
    }
}

/// Several in the queue of a lock whose holder sleeps.
async fn queue(tasks: &mut Tasks) {
    let lock = lock();
    let holder = spawn_hold(tasks, lock.lock().await);
    for _ in 0..3 {
        let task = tasks.spawn(add(lock), "contended::locks::add", for_mutex(lock));
        waits_for(tasks, task, lock, holder);
    }
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    starving(tasks).await;
    ways_out(tasks);
    permits(tasks).await;
    parents(tasks);
    traces(tasks);
    lent(tasks);
    queue(tasks).await;
}
