//! What looks like a futurelock and is none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc};
use std::time::Duration;

use tokio::time::sleep;
use truth::graph::{address, Node};
use truth::tree::{at, fresh};
use truth::{here, Task, FOREVER};

use crate::{for_mutex, hold, lock, passed, spawn_hold, Lock, Tasks};

const SHORT: Duration = Duration::from_millis(20);

async fn add(lock: &'static Lock) {
    here!("futurelocks::innocent::add");
    *lock.lock().await += 1;
}

/// The select owns the future and has dropped it.
async fn by_value(lock: &'static Lock) {
    tokio::select! {
        _ = add(lock) => {}
        _ = sleep(SHORT) => {
            here!("futurelocks::innocent::by_value");
            *lock.lock().await += 1;
        }
    }
}

/// The future was never polled, so it waits for nothing.
async fn not_started(lock: &'static Lock) {
    let later = add(lock);
    here!("futurelocks::innocent::not_started");
    *lock.lock().await += 1;
    later.await;
}

async fn hold_long(lock: &'static Lock) {
    let guard = lock.lock().await;
    here!("futurelocks::innocent::hold_long");
    hold(guard).await;
}

/// What was passed by reference is a task, which polls itself.
async fn by_handle(lock: &'static Lock, ids: mpsc::Sender<Option<u64>>) {
    let mut first = tokio::spawn(hold_long(lock));
    let _ = ids.send(truth::id(&first));
    tokio::select! {
        _ = &mut first => {}
        _ = passed("futurelocks::innocent::hold_long", 1) => {
            here!("futurelocks::innocent::by_handle");
            *lock.lock().await += 1;
        }
    }
}

/// Does something else before it polls the future again, which has got the lock.
async fn later(lock: &'static Lock) {
    let mut first = Box::pin(add(lock));
    loop {
        tokio::select! {
            _ = &mut first => break,
            _ = sleep(SHORT) => {
                here!("futurelocks::innocent::later");
                sleep(FOREVER).await;
            }
        }
    }
}

/// Dropped the future, which has left the queue.
async fn dropped(lock: &'static Lock) {
    let mut first = Box::pin(add(lock));
    tokio::select! {
        _ = &mut first => {}
        _ = sleep(SHORT) => {
            drop(first);
            here!("futurelocks::innocent::dropped");
            *lock.lock().await += 1;
        }
    }
}

async fn hold_queued(lock: &'static Lock) {
    let guard = lock.lock().await;
    here!("futurelocks::innocent::hold_queued");
    hold(guard).await;
}

/// Gave the future away: a task of its own polls it, and has the lock by now.
async fn given_away(lock: &'static Lock, ids: mpsc::Sender<Option<u64>>) {
    let mut first = Box::pin(hold_queued(lock));
    tokio::select! {
        _ = &mut first => {}
        _ = sleep(SHORT) => {
            let _ = ids.send(truth::id(&tokio::spawn(first)));
            passed("futurelocks::innocent::hold_queued", 1).await;
            here!("futurelocks::innocent::given_away");
            *lock.lock().await += 1;
        }
    }
}

/// Holds the lock until somebody has got this.
async fn until_given(lock: &'static Lock, locked: mpsc::Sender<()>, given: Arc<AtomicBool>) {
    let guard = lock.lock().await;
    let _ = locked.send(());
    while !given.load(Ordering::SeqCst) {
        sleep(Duration::from_millis(1)).await;
    }
    drop(guard);
}

async fn until_later(lock: &'static Lock, locked: mpsc::Sender<()>) {
    let guard = lock.lock().await;
    let _ = locked.send(());
    passed("futurelocks::innocent::later", 1).await;
    drop(guard);
}

/// Wants it too.
async fn wait_meanwhile(lock: &'static Lock) {
    passed("futurelocks::innocent::later", 1).await;
    here!("futurelocks::innocent::wait_meanwhile");
    *lock.lock().await += 1;
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    let (first, second, third, fourth) = (lock(), lock(), lock(), lock());
    let holder = spawn_hold(tasks, first).await;
    let tree = at("futurelocks::innocent::by_value");
    let task = tasks.spawn_tree(by_value(first), tree, Some(for_mutex(first)));
    tasks.graph.waits(task, "mutex", address(first), &[holder]);

    let holder = spawn_hold(tasks, second).await;
    let tree = at("futurelocks::innocent::not_started").held(fresh("futurelocks::innocent::add"));
    let task = tasks.spawn_tree(not_started(second), tree, Some(for_mutex(second)));
    tasks.graph.waits(task, "mutex", address(second), &[holder]);

    let lock = crate::lock();
    let holder = spawn_hold(tasks, lock).await;
    let (handle, task) = Tasks::start(dropped(lock));
    let row = Task::idle(truth::id(&handle), &["futurelocks::innocent::dropped"]);
    tasks.tasks.push(row.waits(for_mutex(lock)));
    tasks.graph.waits(task, "mutex", address(lock), &[holder]);

    let lock = crate::lock();
    let (locked, when_locked) = mpsc::channel();
    let given = Arc::new(AtomicBool::new(false));
    tokio::spawn(until_given(lock, locked, given.clone()));
    when_locked.recv().expect("it does not lock");
    let (ids, id) = mpsc::channel();
    let (handle, task) = Tasks::start(given_away(lock, ids));
    let row = Task::idle(truth::id(&handle), &["futurelocks::innocent::given_away"]);
    tasks.tasks.push(row.waits(for_mutex(lock)));
    let holder = id.recv().expect("it is gone");
    given.store(true, Ordering::SeqCst);
    let tree = at("futurelocks::innocent::hold_queued").then(at("futurelocks::hold"));
    tasks.tasks.push(Task::idle_tree(holder, tree));
    tasks.graph.waits_or_stale(task, "mutex", address(lock), &[Node::task(holder)]);

    let (ids, id) = mpsc::channel();
    let tree = at("futurelocks::innocent::by_handle");
    let task = tasks.spawn_tree(by_handle(third, ids), tree, Some(for_mutex(third)));
    let holder = id.recv().expect("it is gone");
    let tree = at("futurelocks::innocent::hold_long").then(at("futurelocks::hold"));
    tasks.tasks.push(Task::idle_tree(holder, tree));
    let holder = Node::task(holder);
    tasks.graph.waits(task, "mutex", address(third), &[holder]);

    let (locked, when_locked) = mpsc::channel();
    tokio::spawn(until_later(fourth, locked));
    when_locked.recv().expect("it does not lock");
    let (handle, owner) = Tasks::start(later(fourth));
    let tree = at("futurelocks::innocent::later").held(at("futurelocks::innocent::add"));
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree));
    let tree = at("futurelocks::innocent::wait_meanwhile");
    let task = tasks.spawn_tree(wait_meanwhile(fourth), tree, Some(for_mutex(fourth)));
    // The memory of what `dropped` dropped may be that of the future of `later`.
    tasks.graph.waits_or_stale(task, "mutex", address(fourth), &[owner]);
    tasks.graph.unpolled(owner, address(fourth));
}
