//! Cycles in which every task waits for one thing.

use std::sync::{mpsc, Arc};

use tokio::sync::{self, oneshot, Barrier, OnceCell, RwLock, Semaphore};
use tokio::task::{yield_now, JoinHandle, JoinSet};
use truth::graph::{address, Node};
use truth::{declares, here, Task, Wait};

use crate::{for_mutex, leak, lock, nap, Lock, Tasks};

/// Locks one, waits until all have theirs, and locks the other.
pub(crate) async fn lock_both(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    declares!("deadlocks::cycles::lock_both held");
    let mut held = own.lock().await;
    all.wait().await;
    here!("deadlocks::cycles::lock_both");
    let wanted = other.lock().await;
    *held += *wanted;
}

pub(crate) const LOCK_BOTH: &str = "deadlocks::cycles::lock_both";

/// Comes when those that it waits for have their locks.
async fn lock_late(wanted: &'static Lock, all: &'static Barrier) {
    all.wait().await;
    here!("deadlocks::cycles::lock_late");
    *wanted.lock().await += 1;
}

async fn join(other: JoinHandle<()>) {
    here!("deadlocks::cycles::join");
    let _ = other.await;
}

/// Two tasks that lock two mutexes in different order; another waits for one of the mutexes, and
/// yet another for that task.
fn abba(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(3)));
    let first = tasks.spawn(lock_both(a, b, all), LOCK_BOTH, for_mutex(b));
    let second = tasks.spawn(lock_both(b, a, all), LOCK_BOTH, for_mutex(a));
    let (handle, third) = Tasks::start(lock_late(a, all));
    tasks.describe(&handle, "deadlocks::cycles::lock_late", for_mutex(a));
    let wait = Wait::new("join").with("task", truth::id(&handle));
    let fourth = tasks.spawn(join(handle), "deadlocks::cycles::join", wait);

    tasks.graph.deadlock(&[first, second]);
    tasks.graph.waits(first, "mutex", address(b), &[second]);
    tasks.graph.waits(second, "mutex", address(a), &[first]);
    tasks.graph.waits(third, "mutex", address(a), &[first]);
    tasks.graph.waits(fourth, "join", None, &[third]);
    tasks.graph.behind(third);
    tasks.graph.behind(fourth);
}

/// Three in a ring.
fn ring(tasks: &mut Tasks) {
    let (locks, all) = ([lock(), lock(), lock()], leak(Barrier::new(3)));
    let mut members: Vec<Node> = Vec::new();
    for number in 0..3 {
        let wanted = locks[(number + 1) % 3];
        let future = lock_both(locks[number], wanted, all);
        members.push(tasks.spawn(future, LOCK_BOTH, for_mutex(wanted)));
    }
    for number in 0..3 {
        let next = (number + 1) % 3;
        tasks.graph.waits(members[number], "mutex", address(locks[next]), &[members[next]]);
    }
    tasks.graph.deadlock(&members);
}

/// Had the lock and used it before it sleeps.
async fn had(lock: &'static Lock, dropped: oneshot::Sender<()>) {
    let mut guard = lock.lock().await;
    *guard += 1;
    drop(guard);
    let _ = dropped.send(());
    here!("deadlocks::cycles::had");
    nap().await;
}

/// Two as before, and what is left of a guard in a third, which does not have it.
async fn beside_a_trace(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
    let (dropped, when_dropped) = oneshot::channel();
    let (handle, _) = Tasks::start(had(a, dropped));
    let chain = &["deadlocks::cycles::had", "deadlocks::nap"];
    tasks.tasks.push(Task::idle(truth::id(&handle), chain).sleeps());
    when_dropped.await.expect("it is gone");
    let first = tasks.spawn(lock_both(a, b, all), LOCK_BOTH, for_mutex(b));
    let second = tasks.spawn(lock_both(b, a, all), LOCK_BOTH, for_mutex(a));
    tasks.graph.hard_deadlock(&[first, second]);
    tasks.graph.waits(first, "mutex", address(b), &[second]);
    tasks.graph.waits_or_stale(second, "mutex", address(a), &[first]);
}

async fn lock_twice(lock: &'static Lock) {
    declares!("deadlocks::cycles::lock_twice first");
    let first = lock.lock().await;
    here!("deadlocks::cycles::lock_twice");
    let second = lock.lock().await;
    drop((first, second));
}

fn with_itself(tasks: &mut Tasks) {
    let lock = lock();
    let task = tasks.spawn(lock_twice(lock), "deadlocks::cycles::lock_twice", for_mutex(lock));
    tasks.graph.waits(task, "mutex", address(lock), &[task]);
    tasks.graph.deadlock(&[task]);
}

async fn initialise(cell: &'static OnceCell<u32>) -> u32 {
    here!("deadlocks::cycles::initialise");
    *cell.get_or_init(|| async { 1 }).await
}

/// Needs what it initialises.
async fn initialise_twice(cell: &'static OnceCell<u32>) {
    here!("deadlocks::cycles::initialise_twice");
    cell.get_or_init(|| initialise(cell)).await;
}

fn cell(tasks: &mut Tasks) {
    let cell = leak(OnceCell::new());
    let (handle, task) = Tasks::start(initialise_twice(cell));
    let chain = &["deadlocks::cycles::initialise_twice", "deadlocks::cycles::initialise"];
    let wait = Wait::new("once_cell").with("object", cell as *const OnceCell<u32>);
    tasks.tasks.push(Task::idle(truth::id(&handle), chain).waits(wait));
    tasks.graph.waits(task, "once_cell", address(cell), &[task]);
    tasks.graph.deadlock(&[task]);
}

type Config = RwLock<u32>;

/// Says the ids of children.
type Report = mpsc::Sender<Vec<Option<u64>>>;

/// Owns the only sender and waits for who waits for the lock.
async fn produce(writer: JoinHandle<()>, sender: sync::mpsc::Sender<u32>) {
    here!("deadlocks::cycles::produce");
    let _ = writer.await;
    let _ = sender.send(1).await;
}

async fn reconfigure(config: Arc<Config>, locked: oneshot::Receiver<()>) {
    let _ = locked.await;
    here!("deadlocks::cycles::reconfigure");
    *config.write().await += 1;
}

/// Holds the lock and waits for who owns the sender.
async fn consume(
    config: Arc<Config>,
    mut receiver: sync::mpsc::Receiver<u32>,
    locked: oneshot::Sender<()>,
) {
    declares!("deadlocks::cycles::consume limit");
    let limit = config.read().await;
    let _ = locked.send(());
    here!("deadlocks::cycles::consume");
    let received = receiver.recv().await;
    assert!(received < Some(*limit));
}

/// Through a `JoinHandle`, an `RwLock` and a channel.
fn three_ways(tasks: &mut Tasks) {
    let config = Arc::new(RwLock::new(0));
    let object = address(&*config);
    let (sender, receiver) = sync::mpsc::channel(1);
    let (locked, when_locked) = oneshot::channel();
    let wait = Wait::new("rwlock_write").with("object", Arc::as_ptr(&config));
    let (writer, second) = Tasks::start(reconfigure(config.clone(), when_locked));
    tasks.describe(&writer, "deadlocks::cycles::reconfigure", wait);
    let wait = Wait::new("join").with("task", truth::id(&writer));
    let first = tasks.spawn(produce(writer, sender), "deadlocks::cycles::produce", wait);
    let wait = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let third = consume(config, receiver, locked);
    let third = tasks.spawn(third, "deadlocks::cycles::consume", wait);

    tasks.graph.waits(first, "join", None, &[second]);
    tasks.graph.waits(second, "rwlock_write", object, &[third]);
    tasks.graph.waits(third, "mpsc_recv", None, &[first]);
    tasks.graph.deadlock(&[first, second, third]);
}

/// Reads, and reads again after a writer has queued.
async fn read_twice(config: &'static Config, all: &'static Barrier) {
    declares!("deadlocks::cycles::read_twice first");
    let first = config.read().await;
    all.wait().await;
    while config.try_read().is_ok() {
        yield_now().await;
    }
    here!("deadlocks::cycles::read_twice");
    let second = config.read().await;
    assert_eq!(*first, *second);
}

async fn write(config: &'static Config, all: &'static Barrier) {
    all.wait().await;
    here!("deadlocks::cycles::write");
    *config.write().await += 1;
}

/// A reader that reads again behind a writer, which waits for the first read to end.
fn upgrade(tasks: &mut Tasks) {
    let (config, all) = (leak(RwLock::new(0)), leak(Barrier::new(2)));
    let wait = |kind| Wait::new(kind).with("object", config as *const Config);
    let reader = read_twice(config, all);
    let reader = tasks.spawn(reader, "deadlocks::cycles::read_twice", wait("rwlock_read"));
    let writer = write(config, all);
    let writer = tasks.spawn(writer, "deadlocks::cycles::write", wait("rwlock_write"));
    tasks.graph.waits(writer, "rwlock_write", address(config), &[reader]);
    tasks.graph.deadlock(&[reader, writer]);
}

/// Reads, and then wants to write.
async fn read_and_write(config: &'static Config, all: &'static Barrier) {
    declares!("deadlocks::cycles::read_and_write before");
    let before = config.read().await;
    all.wait().await;
    here!("deadlocks::cycles::read_and_write");
    *config.write().await += 1;
    drop(before);
}

fn two_upgrades(tasks: &mut Tasks) {
    let (config, all) = (leak(RwLock::new(0)), leak(Barrier::new(2)));
    let mut spawn = || {
        let wait = Wait::new("rwlock_write").with("object", config as *const Config);
        tasks.spawn(read_and_write(config, all), "deadlocks::cycles::read_and_write", wait)
    };
    let members = [spawn(), spawn()];
    tasks.graph.waits(members[0], "rwlock_write", address(config), &members);
    tasks.graph.waits(members[1], "rwlock_write", address(config), &members);
    tasks.graph.deadlock(&members);
}

/// Takes one permit, and then another.
async fn acquire_twice(semaphore: &'static Semaphore, all: &'static Barrier) {
    declares!("deadlocks::cycles::acquire_twice first");
    let first = semaphore.acquire().await;
    all.wait().await;
    here!("deadlocks::cycles::acquire_twice");
    let second = semaphore.acquire().await;
    drop((first, second));
}

fn two_permits(tasks: &mut Tasks) {
    let (semaphore, all) = (leak(Semaphore::new(2)), leak(Barrier::new(2)));
    let mut spawn = || {
        let wait = Wait::new("semaphore").with("object", semaphore as *const Semaphore);
        tasks.spawn(acquire_twice(semaphore, all), "deadlocks::cycles::acquire_twice", wait)
    };
    let members = [spawn(), spawn()];
    tasks.graph.waits(members[0], "semaphore", address(semaphore), &members);
    tasks.graph.waits(members[1], "semaphore", address(semaphore), &members);
    tasks.graph.deadlock(&members);
}

async fn acquire(semaphore: Arc<Semaphore>) {
    here!("deadlocks::cycles::acquire");
    drop(semaphore.acquire().await);
}

/// Takes all permits and waits for a child that needs one.
async fn exhaust(semaphore: Arc<Semaphore>, report: Report) {
    declares!("deadlocks::cycles::exhaust permits");
    let permits = semaphore.acquire_many(2).await;
    let child = tokio::spawn(acquire(semaphore.clone()));
    let _ = report.send(vec![truth::id(&child)]);
    here!("deadlocks::cycles::exhaust");
    let _ = child.await;
    drop(permits);
}

/// Waits for any of its children, all of which need what it holds.
async fn gather(results: &'static Lock, number: usize, report: Report) {
    declares!("deadlocks::cycles::gather total");
    let total = results.lock().await;
    let mut children = JoinSet::new();
    let ids = (0..number).map(|_| truth::id(&children.spawn(add(results)))).collect();
    let _ = report.send(ids);
    here!("deadlocks::cycles::gather");
    children.join_next().await;
    drop(total);
}

async fn add(results: &'static Lock) {
    here!("deadlocks::cycles::add");
    *results.lock().await += 1;
}

fn parents(tasks: &mut Tasks) {
    let semaphore = Arc::new(Semaphore::new(2));
    let object = address(&*semaphore);
    let (report, reported) = mpsc::channel();
    let (parent, id) = Tasks::start(exhaust(semaphore.clone(), report));
    let child = reported.recv().expect("the parent is gone")[0];
    let wait = Wait::new("semaphore").with("object", Arc::as_ptr(&semaphore));
    tasks.tasks.push(Task::idle(child, &["deadlocks::cycles::acquire"]).waits(wait));
    let wait = Wait::new("join").with("task", child);
    tasks.describe(&parent, "deadlocks::cycles::exhaust", wait);
    tasks.graph.waits(Node::task(child), "semaphore", object, &[id]);
    tasks.graph.waits(id, "join", None, &[Node::task(child)]);
    tasks.graph.deadlock(&[id, Node::task(child)]);
    family(tasks, 2);
    // More than a wait lists.
    family(tasks, 40);
}

/// One that waits for any of so many that wait for it.
fn family(tasks: &mut Tasks, number: usize) {
    let results = lock();
    let (report, reported) = mpsc::channel();
    let (parent, id) = Tasks::start(gather(results, number, report));
    let children = reported.recv().expect("the parent is gone");
    tasks.describe(&parent, "deadlocks::cycles::gather", Wait::new("join_set"));
    let mut members = vec![id];
    for child in children {
        let task = Task::idle(child, &["deadlocks::cycles::add"]).waits(for_mutex(results));
        tasks.tasks.push(task);
        tasks.graph.waits(Node::task(child), "mutex", address(results), &[id]);
        members.push(Node::task(child));
    }
    tasks.graph.waits(id, "join_set", None, &members[1..]);
    tasks.graph.deadlock(&members);
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    abba(tasks);
    ring(tasks);
    beside_a_trace(tasks).await;
    with_itself(tasks);
    cell(tasks);
    three_ways(tasks);
    upgrade(tasks);
    two_upgrades(tasks);
    two_permits(tasks);
    parents(tasks);
}
