//! What tokio::sync has.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::{
    broadcast, mpsc, oneshot, watch, Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use truth::{here, locals, used, FOREVER};

use crate::{shown, Waiters};

pub fn make_locks(waiters: &mut Waiters) -> impl Future<Output = ()> + Send {
    let semaphore = Arc::new(Semaphore::new(5));
    semaphore.try_acquire_many(3).unwrap().forget();
    let crowded = Arc::new(Semaphore::new(0));
    for _ in 0..3 {
        waiters.add(crowded.clone().acquire_owned());
    }
    let notify = Arc::new(Notify::new());
    for _ in 0..2 {
        let notify = notify.clone();
        waiters.add(NotifiedOf(Box::pin(truth::leak(notify).notified())));
    }
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.clone().try_lock_owned().unwrap();
    waiters.add(mutex.clone().lock_owned());
    locks(semaphore, crowded, notify, mutex, guard)
}

/// A future of tokio alone, without a coroutine of this program.
struct NotifiedOf(std::pin::Pin<Box<tokio::sync::futures::Notified<'static>>>);

impl Future for NotifiedOf {
    type Output = ();

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

async fn locks(
    semaphore: Arc<Semaphore>,
    crowded: Arc<Semaphore>,
    notify: Arc<Notify>,
    mutex: Arc<Mutex<u8>>,
    guard: tokio::sync::OwnedMutexGuard<u8>,
) {
    let name = "values::sync::locks";
    let stored = Notify::new();
    stored.notify_one();
    let closed = Semaphore::new(1);
    closed.close();
    let open = Mutex::new(2u8);
    let rwlock = RwLock::new(3u16);
    let read = RwLock::new(4u16);
    let readers = (read.try_read().unwrap(), read.try_read().unwrap());
    let written = RwLock::new(5u16);
    let writer = written.try_write().unwrap();
    shown!(name, semaphore, "Semaphore {{ permits: {}, waiting: 0 }}", semaphore.available_permits());
    shown!(name, crowded, "Semaphore {{ permits: 0, waiting: 3 }}");
    shown!(name, closed, "Semaphore {{ permits: 1, waiting: 0, closed }}");
    shown!(name, notify, "Notify {{ waiting: 2 }}");
    shown!(name, stored, "Notify {{ waiting: 0, notified }}");
    shown!(name, mutex, "Mutex {{ data: 1, locked, waiting: 1 }}");
    shown!(name, read, "RwLock {{ data: 4, readers: 2 }}");
    shown!(name, written, "RwLock {{ data: 5, locked }}");
    shown!(name, guard, "{:?}", guard);
    locals! { "values::sync::locks" =>
        open
    }
    shown!(name, rwlock, "RwLock {{ data: 3 }}");
    here!("values::sync::locks");
    sleep(FOREVER).await;
    used!(semaphore, crowded, notify, stored, closed, mutex, guard, open, rwlock, readers, writer);
}

/// A future that owns what it borrows from.
fn own<T: 'static>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

pub fn make_channels(waiters: &mut Waiters) -> impl Future<Output = ()> + Send {
    let (full, kept) = mpsc::channel(2);
    full.try_send(1u8).unwrap();
    full.try_send(2u8).unwrap();
    waiters.add(full.clone().reserve_owned());
    let (sender, receiver) = mpsc::unbounded_channel::<u32>();
    waiters.add(own(receiver).recv());
    channels(full, kept, sender)
}

async fn channels(
    full: mpsc::Sender<u8>,
    kept: mpsc::Receiver<u8>,
    awaited: mpsc::UnboundedSender<u32>,
) {
    let name = "values::sync::channels";
    let (sender, receiver) = mpsc::channel::<u16>(8);
    let other = sender.clone();
    for n in 0..3 {
        sender.try_send(n).unwrap();
    }
    let (unbounded, drain) = mpsc::unbounded_channel::<u64>();
    unbounded.send(1).unwrap();
    let (orphan, gone) = mpsc::channel::<u8>(1);
    drop(gone);
    shown!(name, sender, "Sender {{ queued: 3 of 8, senders: 2 }}");
    shown!(name, other, "Sender {{ queued: 3 of 8, senders: 2 }}");
    shown!(name, receiver, "Receiver {{ queued: 3 of 8, senders: 2 }}");
    shown!(name, unbounded, "UnboundedSender {{ queued: 1, senders: 1 }}");
    shown!(name, drain, "UnboundedReceiver {{ queued: 1, senders: 1 }}");
    shown!(name, orphan, "Sender {{ queued: 0 of 1, senders: 1, closed }}");
    shown!(name, full, "Sender {{ queued: 2 of 2, senders: 2, waiting: 1 }}");
    shown!(name, kept, "Receiver {{ queued: 2 of 2, senders: 2, waiting: 1 }}");
    shown!(name, awaited, "UnboundedSender {{ queued: 0, senders: 1, receiver waits }}");
    here!("values::sync::channels");
    sleep(FOREVER).await;
    used!(sender, other, receiver, unbounded, drain, orphan, full, kept, awaited);
}

pub fn make_oneshots(waiters: &mut Waiters) -> impl Future<Output = ()> + Send {
    let (sender, receiver) = oneshot::channel();
    waiters.add(receiver);
    oneshots(sender)
}

async fn oneshots(awaited: oneshot::Sender<u8>) {
    let name = "values::sync::oneshots";
    let (sender, receiver) = oneshot::channel::<u8>();
    let (send, sent) = oneshot::channel();
    send.send(7u16).unwrap();
    let (dropped, gone) = oneshot::channel::<u8>();
    drop(dropped);
    let (mut left, dead) = oneshot::channel::<u8>();
    drop(dead);
    shown!(name, awaited, "Sender {{ receiver waits }}");
    shown!(name, sender, "Sender {{ receiver alive }}");
    shown!(name, receiver, "Receiver {{ sender alive }}");
    shown!(name, sent, "Receiver {{ value: 7 }}");
    shown!(name, gone, "Receiver {{ sender gone }}");
    shown!(name, left, "Sender {{ closed }}");
    here!("values::sync::oneshots");
    sleep(FOREVER).await;
    used!(awaited, sender, receiver, sent, gone);
    left.closed().await;
}

pub fn make_shared(waiters: &mut Waiters) -> impl Future<Output = ()> + Send {
    let barrier = Arc::new(Barrier::new(3));
    waiters.add(truth::leak(barrier.clone()).wait());
    shared(barrier)
}

async fn shared(barrier: Arc<Barrier>) {
    let name = "values::sync::shared";
    let (watched, seen) = watch::channel("one".to_string());
    watched.send("two".to_string()).unwrap();
    let newer = watched.subscribe();
    let (broadcast, first) = broadcast::channel(2);
    for n in 0..3u8 {
        broadcast.send(n).unwrap();
    }
    let second = broadcast.subscribe();
    let cancel = CancellationToken::new();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    shown!(name, barrier, "Barrier {{ arrived: 1 of 3 }}");
    shown!(name, watched, "Sender {{ value: \"two\", receivers: 2 }}");
    shown!(name, seen, "Receiver {{ value: \"two\", changed: true }}");
    shown!(name, newer, "Receiver {{ value: \"two\", changed: false }}");
    shown!(name, broadcast, "Sender {{ capacity: 2, senders: 1, receivers: 2 }}");
    shown!(name, first, "Receiver {{ queued: 2 of 2, lost: 1, senders: 1 }}");
    shown!(name, second, "Receiver {{ queued: 0 of 2, senders: 1 }}");
    shown!(name, cancel, "CancellationToken {{ is_cancelled: {} }}", cancel.is_cancelled());
    shown!(name, cancelled, "CancellationToken {{ is_cancelled: {} }}", cancelled.is_cancelled());
    here!("values::sync::shared");
    sleep(FOREVER).await;
    used!(barrier, watched, seen, newer, broadcast, first, second, cancel, cancelled);
}

pub async fn cells() {
    let empty: OnceCell<u8> = OnceCell::new();
    let set = OnceCell::new();
    set.set("set".to_string()).unwrap();
    let semaphore = Arc::new(Semaphore::new(3));
    let permit = semaphore.clone().try_acquire_owned().unwrap();
    locals! { "values::sync::cells" =>
        empty, set
    }
    here!("values::sync::cells");
    sleep(FOREVER).await;
    used!(empty, set, semaphore, permit);
}
