//! Tasks that wait for each other, of which somebody can end one.

use std::time::Duration;

use tokio::sync::Barrier;
use tokio::task::{AbortHandle, JoinHandle};
use truth::{here, leak, Task, Wait};

use crate::cycles::{lock_both, LOCK_BOTH};
use crate::{for_mutex, lock, Tasks};

/// Will end it, if it takes too long.
async fn watch(handle: AbortHandle) {
    here!("deadlocks::aborts::watch");
    tokio::time::sleep(truth::FOREVER).await;
    handle.abort();
}

/// Would end it, but waits for it first.
async fn watch_after(task: JoinHandle<()>, mut others: Vec<AbortHandle>) {
    others.push(task.abort_handle());
    here!("deadlocks::aborts::watch_after");
    let _ = task.await;
    others.into_iter().for_each(|handle| handle.abort());
}

/// Keeps what is not only good for ending a task.
async fn keep(handle: JoinHandle<()>) {
    here!("deadlocks::aborts::keep");
    tokio::time::sleep(truth::FOREVER - Duration::from_secs(1)).await;
    drop(handle);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    for kind in 0..3 {
        let (a, b, all) = (lock(), lock(), leak(Barrier::new(2)));
        let (handle, first) = Tasks::start(lock_both(a, b, all));
        tasks.describe(&handle, LOCK_BOTH, for_mutex(b));
        let (other, second) = Tasks::start(lock_both(b, a, all));
        tasks.describe(&other, LOCK_BOTH, for_mutex(a));
        let members = [first, second];
        if kind == 0 {
            let (watcher, _) = Tasks::start(watch(other.abort_handle()));
            let chain = &["deadlocks::aborts::watch"];
            tasks.tasks.push(Task::idle(truth::id(&watcher), chain).sleeps());
            tasks.graph.possible_deadlock(&members);
        } else if kind == 1 {
            let wait = Wait::new("join").with("task", truth::id(&handle));
            let watch = watch_after(handle, vec![other.abort_handle()]);
            let behind = tasks.spawn(watch, "deadlocks::aborts::watch_after", wait);
            tasks.graph.behind(behind);
            tasks.graph.proven_deadlock(&members);
        } else {
            let (keeper, _) = Tasks::start(keep(handle));
            let chain = &["deadlocks::aborts::keep"];
            tasks.tasks.push(Task::idle(truth::id(&keeper), chain).sleeps());
            tasks.graph.proven_deadlock(&members);
        }
    }
}
