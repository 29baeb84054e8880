//! Cycles through futures that poll several others.

use tokio::sync::Barrier;
use truth::graph::address;
use truth::tree::{at, library};
use truth::{declares, here, Task};

use crate::cycles::{lock_both, LOCK_BOTH};
use crate::{for_mutex, leak, lock, nap, Lock, Tasks};

/// A join is over when all its arms are.
async fn join_arms(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    declares!("deadlocks::arms::join_arms held");
    let mut held = own.lock().await;
    all.wait().await;
    here!("deadlocks::arms::join_arms");
    let (_, wanted) = tokio::join!(nap(), other.lock());
    *held += *wanted;
}

fn join(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
    let (handle, first) = Tasks::start(join_arms(a, b, all));
    let tree = at("deadlocks::arms::join_arms").join(0, at("deadlocks::nap")).join(1, library());
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree).beside(for_mutex(b)));
    let second = tasks.spawn(lock_both(b, a, all), LOCK_BOTH, for_mutex(a));
    tasks.graph.waits(first, "mutex", address(b), &[second]);
    tasks.graph.waits(second, "mutex", address(a), &[first]);
    tasks.graph.proven_deadlock(&[first, second]);
}

/// An error of one arm ends all of it.
async fn try_join_arms(own: &'static Lock, other: &'static Lock, all: &'static Barrier) {
    let mut held = own.lock().await;
    all.wait().await;
    here!("deadlocks::arms::try_join_arms");
    let _ = tokio::try_join!(
        async {
            here!("deadlocks::arms::try_join_arms::{async_block#0}");
            nap().await;
            Err::<(), ()>(())
        },
        async {
            here!("deadlocks::arms::try_join_arms::{async_block#1}");
            *held += *other.lock().await;
            Ok(())
        }
    );
}

fn try_join(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
    let (handle, first) = Tasks::start(try_join_arms(a, b, all));
    let tree = at("deadlocks::arms::try_join_arms")
        .join(0, at("deadlocks::arms::try_join_arms::{async_block#0}").then(at("deadlocks::nap")))
        .join(1, at("deadlocks::arms::try_join_arms::{async_block#1}"));
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree).beside(for_mutex(b)));
    let second = tasks.spawn(lock_both(b, a, all), LOCK_BOTH, for_mutex(a));
    tasks.graph.possible_deadlock(&[first, second]);
}

/// A select goes on with any of its arms, but each of these waits for one that waits for it.
async fn select_arms(
    own: &'static Lock,
    left: &'static Lock,
    right: &'static Lock,
    all: &'static Barrier,
) {
    declares!("deadlocks::arms::select_arms held");
    let mut held = own.lock().await;
    all.wait().await;
    here!("deadlocks::arms::select_arms");
    tokio::select! {
        wanted = left.lock() => *held += *wanted,
        wanted = right.lock() => *held -= *wanted,
    }
}

fn select(tasks: &mut Tasks) {
    let (own, left, right, all) = (lock(), lock(), lock(), leak(Barrier::new(3)));
    let (handle, first) = Tasks::start(select_arms(own, left, right, all));
    let tree = at("deadlocks::arms::select_arms").select(0, library()).select(1, library());
    let task = Task::idle_tree(truth::id(&handle), tree);
    tasks.tasks.push(task.beside(for_mutex(left)).beside(for_mutex(right)));
    let second = tasks.spawn(lock_both(left, own, all), LOCK_BOTH, for_mutex(own));
    let third = tasks.spawn(lock_both(right, own, all), LOCK_BOTH, for_mutex(own));
    tasks.graph.waits(first, "mutex", address(left), &[second]);
    tasks.graph.waits(first, "mutex", address(right), &[third]);
    tasks.graph.waits(second, "mutex", address(own), &[first]);
    tasks.graph.waits(third, "mutex", address(own), &[first]);
    tasks.graph.deadlock(&[first, second, third]);
}

/// Two arms of one task that wait for each other.
async fn each_other(a: &'static Lock, b: &'static Lock, all: &'static Barrier) {
    here!("deadlocks::arms::each_other");
    tokio::join!(lock_both(a, b, all), lock_both(b, a, all));
}

fn within_one(tasks: &mut Tasks) {
    let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
    let (handle, task) = Tasks::start(each_other(a, b, all));
    let tree = at("deadlocks::arms::each_other").join(0, at(LOCK_BOTH)).join(1, at(LOCK_BOTH));
    let row = Task::idle_tree(truth::id(&handle), tree);
    tasks.tasks.push(row.beside(for_mutex(a)).beside(for_mutex(b)));
    tasks.graph.waits(task, "mutex", address(a), &[task]);
    tasks.graph.waits(task, "mutex", address(b), &[task]);
    tasks.graph.proven_deadlock(&[task]);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    join(tasks);
    try_join(tasks);
    select(tasks);
    within_one(tasks);
}
