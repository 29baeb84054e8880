//! Guards of a part of what a lock protects, and channels that many listen to.

use std::sync::Arc;

use tokio::sync::{
    broadcast, watch, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockWriteGuard,
};
use truth::{here, leak, Hold, Wait};

use crate::places::{address, keep, KEEP};
use crate::Tasks;

fn pair() -> &'static Arc<RwLock<(u32, u8)>> {
    leak(Arc::new(RwLock::new((1, 2))))
}

async fn read_write(tasks: &mut Tasks) {
    let kept = RwLockWriteGuard::map(pair().write().await, |pair| &mut pair.1);
    tasks.keeps(keep(kept), "rwlock_write", 0);
    let lock = pair();
    let kept = OwnedRwLockWriteGuard::map(lock.clone().write_owned().await, |pair| &mut pair.1);
    tasks.keeps(keep(kept), "rwlock_write", address(Arc::as_ptr(lock)));
    let lock = pair();
    let kept = OwnedRwLockReadGuard::map(lock.clone().read_owned().await, |pair| &pair.1);
    tasks.keeps(keep(kept), "rwlock_read", address(Arc::as_ptr(lock)));
}

#[cfg(feature = "since_1_36")]
async fn newer(tasks: &mut Tasks) {
    use tokio::sync::{mpsc, Mutex, OwnedMutexGuard};

    let lock = leak(Arc::new(Mutex::new((1, 2))));
    let kept = OwnedMutexGuard::map(lock.clone().lock_owned().await, |pair| &mut pair.1);
    tasks.keeps(keep(kept), "mutex", address(Arc::as_ptr(lock)));
    let (sender, receiver) = mpsc::channel::<u32>(3);
    leak(receiver);
    let kept = leak(sender).reserve_many(2).await.expect("open");
    tasks.keeps(keep(kept), "mpsc", 0);
}

#[cfg(not(feature = "since_1_36"))]
async fn newer(_tasks: &mut Tasks) {}

async fn watches(mut receiver: watch::Receiver<u32>) {
    here!("holders::parts::watches");
    let _ = receiver.changed().await;
}

async fn listens(mut receiver: broadcast::Receiver<u32>) {
    here!("holders::parts::listens");
    let _ = receiver.recv().await;
}

fn channels(tasks: &mut Tasks) {
    let (sender, receiver) = watch::channel(1);
    tasks.keeps_end(keep(sender), "sender", "watch");
    let id = tasks.waits_for(watches(receiver), "holders::parts::watches", Wait::new("watch"));
    tasks.holds.push(Hold::new(id, "receiver", "watch", 0).path("receiver"));

    let (sender, receiver) = broadcast::channel(1);
    tasks.keeps_end(keep(sender.subscribe()), "receiver", "broadcast");
    tasks.keeps_end(keep(sender), "sender", "broadcast");
    let wait = Wait::new("broadcast");
    let id = tasks.waits_for(listens(receiver), "holders::parts::listens", wait);
    tasks.holds.push(Hold::new(id, "receiver", "broadcast", 0).path("receiver"));

    // What is borrowed of a watch locks a lock of threads.
    let (_, receiver) = leak(watch::channel(1));
    let id = tasks.spawn_local(keep(receiver.borrow()), KEEP);
    tasks.holds.push(Hold::new(id, "lock", "std_rwlock", 0).path("kept.inner"));
}

pub async fn all(tasks: &mut Tasks) {
    read_write(tasks).await;
    newer(tasks).await;
    channels(tasks);
}
