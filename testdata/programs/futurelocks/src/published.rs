//! The program of RFD 609, in its own words: a task has the lock, `do_stuff` polls `future1`, which
//! queues for it, and when the time is over it waits for the same lock without polling `future1`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::Mutex;
use tokio::time::sleep;
use truth::graph::address;
use truth::here;
use truth::tree::at;

use crate::{for_mutex, leak, passed, Lock, Tasks};

/// Holds the lock until the time of those who wait is over: then it goes to who queued first.
async fn start_background_task(lock: Arc<Lock>) {
    let guard = lock.lock().await;
    here!("futurelocks::published::start_background_task");
    passed("futurelocks::published::do_async_thing op2", 2).await;
    drop(guard);
}

pub(crate) async fn do_stuff(lock: Arc<Lock>) {
    // Not before the lock is taken.
    passed("futurelocks::published::start_background_task", 2).await;
    let mut future1 = do_async_thing("op1", lock.clone()).boxed();
    tokio::select! {
        _ = &mut future1 => {}
        _ = sleep(Duration::from_millis(50)) => {
            here!("futurelocks::published::do_stuff");
            do_async_thing("op2", lock.clone()).await;
        }
    }
}

async fn do_async_thing(label: &str, lock: Arc<Lock>) {
    if label == "op1" {
        here!("futurelocks::published::do_async_thing op1");
        *lock.lock().await += 1;
    } else {
        here!("futurelocks::published::do_async_thing op2");
        *lock.lock().await += 1;
    }
}

/// One in a task, and the lock of another for `main`.
pub(crate) fn spawn_all(tasks: &mut Tasks) -> &'static Arc<Lock> {
    let lock = || leak(Arc::new(Mutex::new(0)));
    let (own, other): (&Arc<Lock>, &Arc<Lock>) = (lock(), lock());
    for lock in [own, other] {
        tokio::spawn(start_background_task(lock.clone()));
    }
    let tree = at("futurelocks::published::do_stuff")
        .then(at("futurelocks::published::do_async_thing op2"))
        .held(at("futurelocks::published::do_async_thing op1"));
    let task = tasks.spawn_tree(do_stuff(own.clone()), tree, Some(for_mutex(own)));
    tasks.graph.futurelock(task, address(&**own), true);
    tasks.graph.waits(task, "mutex", address(&**own), &[task]);
    other
}
