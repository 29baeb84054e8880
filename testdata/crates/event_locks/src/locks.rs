// The locks of one version of the crate. `krate` is that version.

use std::sync::Arc;

use tokio::time::sleep;
use truth::graph::address;
use truth::{here, Wait, FOREVER};

use self::krate::{Barrier, Mutex, MutexGuardArc, OnceCell, RwLock, Semaphore};
use crate::tasks::{Held, Tasks};

type Lock = &'static Arc<Mutex<u32>>;

const GUARD: Held = ("lock", "mutex", "guard");
const READ: Held = ("lock", "rwlock_read", "guard");
const WRITE: Held = ("lock", "rwlock_write", "guard");
const PERMIT: Held = ("lock", "semaphore", "permit");

const KEEP: &str = concat!(module_path!(), "::keep");
const PERMITTED: &str = concat!(module_path!(), "::permitted");
const LOCK: &str = concat!(module_path!(), "::lock");
const LOCK_ARC: &str = concat!(module_path!(), "::lock_arc");
const CROSS: &str = concat!(module_path!(), "::cross");
const READS: &str = concat!(module_path!(), "::reads");
const WRITES: &str = concat!(module_path!(), "::writes");
const UPGRADES: &str = concat!(module_path!(), "::upgrades");
const AGAIN: &str = concat!(module_path!(), "::again");
const ACQUIRES: &str = concat!(module_path!(), "::acquires");
const ARRIVES: &str = concat!(module_path!(), "::arrives");
const NAP: &str = concat!(module_path!(), "::initialises::{async_block#0}");
const INITIALISES: &str = concat!(module_path!(), "::initialises");
const WAITS: &str = concat!(module_path!(), "::waits");

async fn keep<T>(guard: T) {
    here!(KEEP);
    sleep(FOREVER).await;
    drop(guard);
}

async fn permitted<T>(permit: T) {
    here!(PERMITTED);
    sleep(FOREVER).await;
    drop(permit);
}

async fn lock(mutex: Lock) {
    here!(LOCK);
    *mutex.lock().await += 1;
}

async fn lock_arc(mutex: Lock) {
    here!(LOCK_ARC);
    *mutex.lock_arc().await += 1;
}

/// Holds the one and waits for the other.
async fn cross(guard: MutexGuardArc<u32>, other: Lock) {
    here!(CROSS);
    *other.lock().await += 1;
    drop(guard);
}

async fn reads(lock: &'static RwLock<u32>) {
    here!(READS);
    drop(lock.read().await);
}

async fn writes(lock: &'static RwLock<u32>) {
    here!(WRITES);
    *lock.write().await += 1;
}

async fn upgrades(lock: &'static RwLock<u32>) {
    here!(UPGRADES);
    drop(lock.upgradable_read().await);
}

/// Reads what it reads already, behind a writer that waits for it.
async fn again(lock: &'static RwLock<u32>, start: tokio::sync::oneshot::Receiver<()>) {
    let guard = lock.read().await;
    let _ = start.await;
    here!(AGAIN);
    drop(lock.read().await);
    drop(guard);
}

async fn acquires(semaphore: &'static Semaphore) {
    here!(ACQUIRES);
    drop(semaphore.acquire().await);
}

async fn arrives(barrier: &'static Barrier) {
    here!(ARRIVES);
    barrier.wait().await;
}

async fn initialises(cell: &'static OnceCell<u32>) {
    let nap = async {
        here!(NAP);
        sleep(FOREVER).await;
        1
    };
    here!(INITIALISES);
    cell.get_or_init(|| nap).await;
}

async fn waits(cell: &'static OnceCell<u32>) {
    here!(WAITS);
    cell.get_or_init(|| async { 2 }).await;
}

fn mutex() -> Lock {
    truth::leak(Arc::new(Mutex::new(0)))
}

fn for_mutex(mutex: Lock) -> Wait {
    Wait::new("mutex").with("object", Arc::as_ptr(mutex)).with("granted", false)
}

async fn reached(name: &str, times: usize) {
    while truth::visits(name) < times {
        tokio::task::yield_now().await;
    }
    // One more poll after the mark.
    sleep(std::time::Duration::from_millis(20)).await;
}

async fn mutexes(tasks: &mut Tasks) {
    let busy = mutex();
    let holder = tasks.sleeps(keep(busy.lock().await), &[KEEP], &[GUARD]);
    let first = tasks.waits(lock(busy), LOCK, for_mutex(busy).with("position", 1), &[]);
    tasks.graph.waits(first, "mutex", address(&**busy), &[holder]);
    reached(LOCK, 1).await;
    let second = tasks.waits(lock_arc(busy), LOCK_ARC, for_mutex(busy).with("position", 2), &[]);
    tasks.graph.waits(second, "mutex", address(&**busy), &[holder]);

    let (x, y) = (mutex(), mutex());
    let (own_x, own_y) = (x.lock_arc().await, y.lock_arc().await);
    let one = tasks.waits(cross(own_x, y), CROSS, for_mutex(y), &[GUARD]);
    let two = tasks.waits(cross(own_y, x), CROSS, for_mutex(x), &[GUARD]);
    tasks.graph.waits(one, "mutex", address(&**y), &[two]);
    tasks.graph.waits(two, "mutex", address(&**x), &[one]);
    tasks.graph.deadlock(&[one, two]);
}

async fn rwlocks(tasks: &mut Tasks) {
    // A writer has it.
    let written = truth::leak(RwLock::new(0));
    let holder = tasks.sleeps(keep(written.write().await), &[KEEP], &[WRITE]);
    for (name, future) in [(READS, true), (UPGRADES, false)] {
        let wait = Wait::new("rwlock_read").with("writer", true).with("readers", 0);
        let who = match future {
            true => tasks.waits(reads(written), name, wait, &[]),
            false => tasks.waits(upgrades(written), name, wait, &[]),
        };
        tasks.graph.waits(who, "rwlock_read", None, &[holder]);
    }
    let wait = Wait::new("rwlock_write").with("writer", true).with("readers", 0);
    let who = tasks.waits(writes(written), WRITES, wait, &[]);
    tasks.graph.waits(who, "rwlock_write", None, &[holder]);

    // Two readers have it.
    let read = truth::leak(RwLock::new(0));
    let one = tasks.sleeps(keep(read.read().await), &[KEEP], &[READ]);
    let two = tasks.sleeps(keep(read.upgradable_read().await), &[KEEP], &[READ]);
    let wait = Wait::new("rwlock_write").with("writer", false).with("readers", 2);
    let who = tasks.waits(writes(read), WRITES, wait, &[]);
    tasks.graph.waits(who, "rwlock_write", None, &[one, two]);

    // One reader wants to read again.
    let lock = truth::leak(RwLock::new(0));
    let (start, started) = tokio::sync::oneshot::channel();
    let wait = Wait::new("rwlock_read").with("writer", false).with("readers", 1);
    let reader = tasks.waits(again(lock, started), AGAIN, wait, &[READ]);
    while lock.try_write().is_some() {
        tokio::task::yield_now().await;
    }
    let before = truth::visits(WRITES);
    let wait = Wait::new("rwlock_write").with("writer", false).with("readers", 1);
    let writer = tasks.waits(writes(lock), WRITES, wait.with("position", 1), &[]);
    reached(WRITES, before + 1).await;
    let _ = start.send(());
    tasks.graph.waits(writer, "rwlock_write", None, &[reader]);
    tasks.graph.deadlock(&[reader, writer]);
}

async fn others(tasks: &mut Tasks) {
    let semaphore = truth::leak(Semaphore::new(1));
    let holder = tasks.sleeps(permitted(semaphore.acquire().await), &[PERMITTED], &[PERMIT]);
    let wait = Wait::new("semaphore").with("permits_available", 0).with("position", 1);
    let wait = wait.with("object", semaphore as *const Semaphore);
    let who = tasks.waits(acquires(semaphore), ACQUIRES, wait, &[]);
    tasks.graph.waits(who, "semaphore", address(semaphore), &[holder]);

    let barrier = truth::leak(Barrier::new(3));
    for _ in 0..2 {
        let wait = Wait::new("barrier").with("arrived", 2).with("wanted", 3);
        tasks.waits(arrives(barrier), ARRIVES, wait.with("complete", false), &[]);
    }

    let cell = truth::leak(OnceCell::new());
    tasks.sleeps(initialises(cell), &[INITIALISES, NAP], &[]);
    reached(NAP, 1).await;
    tasks.waits(waits(cell), WAITS, Wait::new("once_cell").with("value_set", false), &[]);
}

pub async fn spawn_all(tasks: &mut Tasks) {
    mutexes(tasks).await;
    rwlocks(tasks).await;
    others(tasks).await;
}
