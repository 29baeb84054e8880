//! The places: containers, futures within futures, outputs that nobody took.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::poll_fn;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{mpsc, oneshot, MutexGuard, OwnedMutexGuard, RwLock, RwLockReadGuard, Semaphore};
use tokio::time::sleep;
use truth::{declared, declares, here, Hold, Task, Wait, FOREVER};

use crate::{guard, hold, leak, lock, Lock, Tasks};

type Guard = MutexGuard<'static, u32>;
pub type Owned = OwnedMutexGuard<u32>;

/// Keeps whatever it gets, in a variable that nothing moves.
pub async fn keep<T>(kept: T) {
    declared!("holders::places::keep kept");
    here!("holders::places::keep");
    sleep(FOREVER).await;
    drop(kept);
}

pub const KEEP: &[&str] = &["holders::places::keep"];

/// Nobody but the debugger reads it.
#[allow(dead_code)]
pub struct Slot {
    pub name: &'static str,
    pub guard: Guard,
}

/// The same.
#[allow(dead_code)]
pub struct State {
    pub slots: Vec<Slot>,
    pub last: Option<(u32, Owned)>,
}

/// The same.
#[allow(dead_code)]
pub enum Turn {
    Idle(u64),
    Busy { by: u32, guard: Guard },
}

/// A trait object of the program's own.
pub trait Keep: Send {}

impl Keep for Slot {}

/// Nobody but the debugger reads its guard.
#[allow(dead_code)]
pub struct Message {
    pub number: u32,
    pub guard: Option<Owned>,
}

/// Messages in a channel belong to who is to receive them: in the first block or in others, but for
/// those that were received.
pub async fn messages(tasks: &mut Tasks) {
    let (sender, mut receiver) = mpsc::channel(100);
    let received = lock();
    let mut locks = Vec::new();
    for number in 0..70 {
        let one = if number < 30 { received } else { lock() };
        // Only the last of those that are received has one.
        let guard = match number {
            0..=28 => None,
            _ => Some(one.clone().lock_owned().await),
        };
        let _ = sender.send(Message { number, guard }).await;
        locks.push(one);
    }
    for number in 0..30 {
        assert_eq!(receiver.recv().await.map(|message| message.number), Some(number));
    }
    tasks.holds.push(Hold::lock(None, "free", Arc::as_ptr(received)));
    let id = tasks.sleeps(keep(receiver), KEEP);
    tasks.holds.push(Hold::new(id, "receiver", "mpsc", 0).path("kept"));
    for (number, one) in locks.into_iter().enumerate().skip(30) {
        let path: &'static str = leak(format!("kept.queued[{}].guard", number - 30));
        tasks.holds.push(Hold::lock(id, "mutex", Arc::as_ptr(one)).path(path));
    }
    let id = tasks.sleeps(keep(sender), KEEP);
    tasks.holds.push(Hold::new(id, "sender", "mpsc", 0).path("kept"));
}

pub async fn collections(tasks: &mut Tasks) {
    let one = lock();
    tasks.holds_one(keep(Some(guard(one).await)), KEEP, "kept", one);
    let one = lock();
    tasks.holds_one(keep((1, guard(one).await)), KEEP, "kept.1", one);
    let one = lock();
    let both = [Some(guard(one).await), None];
    tasks.holds_one(keep(both), KEEP, "kept[0]", one);
    in_state(tasks).await;
    let one = lock();
    let busy = Turn::Busy { by: 2, guard: guard(one).await };
    tasks.holds_one(keep(busy), KEEP, "kept.guard", one);
    let one = lock();
    let mut queue = VecDeque::with_capacity(4);
    queue.push_back(lock().clone().lock_owned().await);
    queue.pop_front();
    queue.push_back(one.clone().lock_owned().await);
    tasks.holds_one(keep(queue), KEEP, "kept[0]", one);
    let one = lock();
    let entries = HashMap::from([(7, one.clone().lock_owned().await)]);
    tasks.holds_one(keep(entries), KEEP, "", one);
    let one = lock();
    let only = Arc::new(one.clone().lock_owned().await);
    tasks.holds_one(keep(only), KEEP, "kept", one);
    let one = lock();
    let slot: Box<dyn Keep> = Box::new(Slot { name: "boxed", guard: guard(one).await });
    tasks.holds_one(keep(slot), KEEP, "kept.guard", one);
    // Makes its other variant one that may be.
    drop(Turn::Idle(1));
}

async fn in_state(tasks: &mut Tasks) {
    let (one, two, three) = (lock(), lock(), lock());
    let slots = vec![
        Slot { name: "one", guard: guard(one).await },
        Slot { name: "two", guard: guard(two).await },
    ];
    let last = Some((1, three.clone().lock_owned().await));
    let id = tasks.sleeps(keep(State { slots, last }), KEEP);
    for (lock, path) in
        [(one, "kept.slots[0].guard"), (two, "kept.slots[1].guard"), (three, "kept.last.1")]
    {
        tasks.holds.push(Hold::lock(id, "mutex", Arc::as_ptr(lock)).path(path));
        tasks.waits(lock);
    }
}

// ---- futures within futures ----

async fn awaits_boxed(future: Pin<Box<dyn Future<Output = ()> + Send>>) {
    here!("holders::places::awaits_boxed");
    future.await;
}

async fn joins(lock: Lock) {
    here!("holders::places::joins");
    tokio::join!(hold(lock), sleep(FOREVER));
}

async fn selects(lock: Lock) {
    here!("holders::places::selects");
    tokio::select! {
        biased;
        _ = hold(lock) => {}
        _ = sleep(FOREVER) => {}
    }
}

async fn unordered(lock: Lock) {
    let mut set = FuturesUnordered::new();
    set.push(hold(lock));
    here!("holders::places::unordered");
    set.next().await;
}

async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) {
    poll_fn(|context| {
        let _ = future.as_mut().poll(context);
        Poll::Ready(())
    })
    .await
}

/// Polls a future once, and then something else.
async fn abandons(lock: Lock) {
    let mut kept: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(hold(lock));
    poll_once(kept.as_mut()).await;
    here!("holders::places::abandons");
    sleep(FOREVER).await;
    kept.await;
}

pub async fn futures(tasks: &mut Tasks) {
    let one = lock();
    let chain = ["holders::places::awaits_boxed", "holders::hold"];
    tasks.holds_one(awaits_boxed(Box::pin(hold(one))), &chain, "guard", one);
    let one = lock();
    tasks.holds_one(joins(one), &["holders::places::joins", "holders::hold"], "guard", one);
    let one = lock();
    tasks.holds_one(selects(one), &["holders::places::selects", "holders::hold"], "guard", one);
    let one = lock();
    tasks.holds_one(unordered(one), &["holders::places::unordered", "holders::hold"], "guard", one);
    let one = lock();
    tasks.holds_one(abandons(one), &["holders::places::abandons"], "guard", one);
    let one = lock();
    declares!("holders::places::futures::{async_block#0} captured");
    let captured = one.clone().lock_owned().await;
    let block = async move {
        here!("holders::places::futures::{async_block#0}");
        sleep(FOREVER).await;
        drop(captured);
    };
    tasks.holds_one(block, &["holders::places::futures::{async_block#0}"], "captured", one);
}

// ---- outputs that nobody took ----

async fn sleeps() {
    here!("holders::places::sleeps");
    sleep(FOREVER).await;
}

async fn done_arm(lock: Lock) {
    here!("holders::places::done_arm");
    let ((), _guard) = tokio::join!(sleeps(), guard(lock));
}

async fn handle(handle: tokio::task::JoinHandle<Guard>) {
    declared!("holders::places::handle handle");
    here!("holders::places::handle");
    sleep(FOREVER).await;
    drop(handle);
}

pub async fn outputs(tasks: &mut Tasks) {
    let one = lock();
    let chain = ["holders::places::done_arm", "holders::places::sleeps"];
    tasks.holds_one(done_arm(one), &chain, "", one);
    let one = lock();
    let finished = tokio::spawn(guard(one));
    while one.try_lock().is_ok() {
        tokio::task::yield_now().await;
    }
    tasks.holds_one(handle(finished), &["holders::places::handle"], "handle.output", one);
}

// ---- other locks ----

async fn reader(lock: &'static RwLock<u32>) {
    here!("holders::places::reader");
    drop(lock.read().await);
}

async fn writer(lock: &'static RwLock<u32>) {
    here!("holders::places::writer");
    drop(lock.write().await);
}

impl Tasks {
    pub fn keeps(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        kind: &'static str,
        object: usize,
    ) -> Option<u64> {
        let id = self.sleeps(future, KEEP);
        self.holds.push(Hold::new(id, "lock", kind, object).path("kept"));
        id
    }

    pub fn keeps_end(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        role: &'static str,
        kind: &'static str,
    ) {
        let id = self.sleeps(future, KEEP);
        self.holds.push(Hold::new(id, role, kind, 0).path("kept"));
    }

    pub fn waits_for(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        place: &'static str,
        wait: Wait,
    ) -> Option<u64> {
        let id = truth::id(&tokio::spawn(future));
        self.tasks.push(Task::idle(id, &[place]).waits(wait));
        id
    }
}

pub fn address<T>(place: *const T) -> usize {
    place as usize
}

pub async fn read_write(tasks: &mut Tasks) {
    let lock = leak(Arc::new(RwLock::new(1)));
    let at = address(Arc::as_ptr(lock));
    let kept = lock.read().await;
    tasks.keeps(keep(kept), "rwlock_read", at);
    let kept = lock.clone().read_owned().await;
    tasks.keeps(keep(kept), "rwlock_read", at);
    let wait = Wait::new("rwlock_write").with("readers", 2);
    let id = tasks.waits_for(writer(lock), "holders::places::writer", wait);
    // All permits but those of the readers are kept for it.
    tasks.holds.push(Hold::new(id, "lock", "rwlock_write", at));

    let lock = leak(Arc::new(RwLock::new(1)));
    let at = address(Arc::as_ptr(lock));
    let kept = lock.write().await;
    tasks.keeps(keep(kept), "rwlock_write", at);
    tasks.waits_for(reader(lock), "holders::places::reader", Wait::new("rwlock_read"));
    let lock = leak(Arc::new(RwLock::new(1)));
    let kept = lock.clone().write_owned().await;
    let at = address(Arc::as_ptr(lock));
    tasks.keeps(keep(kept), "rwlock_write", at);
}

async fn acquires(semaphore: &'static Semaphore) {
    here!("holders::places::acquires");
    drop(semaphore.acquire().await);
}

async fn sends(sender: &'static mpsc::Sender<u32>) {
    here!("holders::places::sends");
    let _ = sender.send(1).await;
}

pub async fn permits(tasks: &mut Tasks) {
    let semaphore = leak(Arc::new(Semaphore::new(4)));
    let at = address(Arc::as_ptr(semaphore));
    let kept = semaphore.acquire().await.expect("open");
    tasks.keeps(keep(kept), "semaphore", at);
    let kept = semaphore.clone().acquire_many_owned(3).await.expect("open");
    tasks.keeps(keep(kept), "semaphore", at);
    let wait = Wait::new("semaphore").with("object", semaphore.as_ref() as *const _);
    tasks.waits_for(acquires(semaphore), "holders::places::acquires", wait);

    let (sender, receiver) = mpsc::channel(2);
    leak(receiver);
    let sender = leak(sender);
    let kept = sender.reserve().await.expect("open");
    tasks.keeps(keep(kept), "mpsc", 0);
    let kept = sender.clone().reserve_owned().await.expect("open");
    let id = tasks.keeps(keep(kept), "mpsc", 0);
    tasks.holds.push(Hold::new(id, "sender", "mpsc", 0).path("kept"));
    tasks.waits_for(sends(sender), "holders::places::sends", Wait::new("mpsc_send"));
}

// ---- guards of a part ----

pub async fn mapped(tasks: &mut Tasks) {
    let lock: &'static tokio::sync::Mutex<(u8, u32)> = leak(tokio::sync::Mutex::new((1, 2)));
    let kept = MutexGuard::map(lock.lock().await, |pair| &mut pair.0);
    tasks.keeps(keep(kept), "mutex", 0);
    let lock: &'static RwLock<(u32, u8)> = leak(RwLock::new((1, 2)));
    let kept = RwLockReadGuard::map(lock.read().await, |pair| &pair.1);
    tasks.keeps(keep(kept), "rwlock_read", 0);
}

// ---- ends of channels ----

async fn receives(mut receiver: mpsc::Receiver<u32>) {
    declared!("holders::places::receives receiver");
    here!("holders::places::receives");
    receiver.recv().await;
}

async fn receives_unbounded(mut receiver: mpsc::UnboundedReceiver<u32>) {
    declared!("holders::places::receives_unbounded receiver");
    here!("holders::places::receives_unbounded");
    receiver.recv().await;
}

async fn receives_once(receiver: oneshot::Receiver<u32>) {
    here!("holders::places::receives_once");
    let _ = receiver.await;
}

pub fn channels(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(1);
    tasks.keeps_end(keep(sender), "sender", "mpsc");
    let wait = Wait::new("mpsc_recv");
    let id = tasks.waits_for(receives(receiver), "holders::places::receives", wait);
    tasks.holds.push(Hold::new(id, "receiver", "mpsc", 0).path("receiver"));

    let (sender, receiver) = mpsc::unbounded_channel();
    tasks.keeps_end(keep(sender), "sender", "mpsc");
    let (wait, place) = (Wait::new("mpsc_recv"), "holders::places::receives_unbounded");
    let id = tasks.waits_for(receives_unbounded(receiver), place, wait);
    tasks.holds.push(Hold::new(id, "receiver", "mpsc", 0).path("receiver"));

    let (sender, receiver) = oneshot::channel();
    tasks.keeps_end(keep(sender), "sender", "oneshot");
    let (wait, place) = (Wait::new("oneshot"), "holders::places::receives_once");
    let id = tasks.waits_for(receives_once(receiver), place, wait);
    tasks.holds.push(Hold::new(id, "receiver", "oneshot", 0));
}

// ---- locks of threads ----

/// Their guards are not Send.
pub fn of_threads(tasks: &mut Tasks) {
    let mutex = leak(std::sync::Mutex::new(1));
    let kept = mutex.lock().expect("nobody panicked");
    tasks.keeps_local(keep(kept), "std_mutex", address(mutex));
    let lock = leak(std::sync::RwLock::new(1));
    let kept = lock.read().expect("nobody panicked");
    tasks.keeps_local(keep(kept), "std_rwlock", 0);
    let lock = leak(std::sync::RwLock::new(1));
    let kept = lock.write().expect("nobody panicked");
    tasks.keeps_local(keep(kept), "std_rwlock", address(lock));
    let mutex = leak(parking_lot::Mutex::new(1));
    tasks.keeps_local(keep(mutex.lock()), "parking_lot", address(mutex));
    let lock = leak(parking_lot::RwLock::new(1));
    tasks.keeps_local(keep(lock.read()), "parking_lot", address(lock));
    let lock = leak(parking_lot::RwLock::new(1));
    tasks.keeps_local(keep(lock.write()), "parking_lot", address(lock));
}

impl Tasks {
    fn keeps_local(
        &mut self,
        future: impl Future<Output = ()> + 'static,
        kind: &'static str,
        object: usize,
    ) {
        let id = self.spawn_local(future, KEEP);
        self.holds.push(Hold::new(id, "lock", kind, object).path("kept"));
    }

    /// A task of this thread that sleeps at the end of this chain.
    pub fn spawn_local(
        &mut self,
        future: impl Future<Output = ()> + 'static,
        chain: &[&'static str],
    ) -> Option<u64> {
        let id = truth::id(&tokio::task::spawn_local(future));
        self.tasks.push(Task::idle(id, chain).sleeps().local());
        id
    }
}

// ---- permits that are given but not taken ----

/// Queues for a lock and then looks elsewhere.
async fn forgets(lock: Lock, ready: oneshot::Sender<()>) {
    let mut first: Pin<Box<dyn Future<Output = Guard> + Send>> = Box::pin(guard(lock));
    poll_once(first.as_mut()).await;
    let _ = ready.send(());
    here!("holders::places::forgets");
    sleep(FOREVER).await;
    let _ = first.await;
}

pub async fn granted(tasks: &mut Tasks) {
    let one = lock();
    let before = guard(one).await;
    let (sender, receiver) = oneshot::channel();
    tasks.holds_one(forgets(one, sender), &["holders::places::forgets"], "", one);
    receiver.await.expect("it was polled");
    drop(before);
}
