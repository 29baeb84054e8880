//! Waits that many could end: who has a reference may do so, and need not.

use std::sync::Arc;

use tokio::sync::{oneshot, Notify};
use truth::{here, Wait};

use crate::{for_mutex, lock, waits_for, Lock, Tasks};

async fn be_notified(lock: &'static Lock, notify: Arc<Notify>, locked: oneshot::Sender<()>) {
    let mut guard = lock.lock().await;
    let _ = locked.send(());
    here!("contended::weak::be_notified");
    notify.notified().await;
    *guard += 1;
}

async fn notify_after(lock: &'static Lock, notify: Arc<Notify>, locked: oneshot::Receiver<()>) {
    let _ = locked.await;
    here!("contended::weak::notify_after");
    *lock.lock().await += 1;
    notify.notify_one();
}

/// Two that seem to wait for each other; but `main` can notify too.
pub(crate) fn spawn_all(tasks: &mut Tasks) -> Arc<Notify> {
    let (lock, notify) = (lock(), Arc::new(Notify::new()));
    let (locked, when_locked) = oneshot::channel();
    let first = be_notified(lock, notify.clone(), locked);
    let wait = Wait::new("notify").with("object", Arc::as_ptr(&notify));
    let first = tasks.spawn(first, "contended::weak::be_notified", wait);
    let second = notify_after(lock, notify.clone(), when_locked);
    let second = tasks.spawn(second, "contended::weak::notify_after", for_mutex(lock));
    waits_for(tasks, second, lock, first);
    notify
}
