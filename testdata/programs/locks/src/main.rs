//! Tasks that wait for others to give something up or to come: several in the queue of each
//! lock, so that their order is known.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use truth::{here, leak, Task, Truth, Wait, FOREVER};

async fn hold<T>(_guard: T) {
    here!("locks::hold");
    sleep(FOREVER).await;
}

/// Spawns tasks and collects what is true of them; they are first polled in this order.
struct Tasks(Vec<Task>);

impl Tasks {
    fn spawn(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        describe: impl FnOnce(Option<u64>) -> Task,
    ) -> Option<u64> {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(describe(id));
        id
    }

    fn holds<T: Send + 'static>(&mut self, guard: T) {
        self.spawn(hold(guard), |id| Task::idle(id, &["locks::hold"]).sleeps());
    }

    fn waits(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        wait: Wait,
    ) -> Option<u64> {
        self.spawn(future, |id| Task::idle(id, &[name]).waits(wait))
    }
}

/// The wait of a task with these before it in the queue.
fn queued(kind: &'static str, ahead: &[Option<u64>]) -> Wait {
    let position = ahead.len() as i32 + 1;
    let wait = Wait::new(kind).with("position", position).with("polled", true);
    wait.with("tasks_ahead", ahead.to_vec()).with("closed", false)
}

async fn lock(mutex: &Mutex<u32>) {
    here!("locks::lock");
    drop(mutex.lock().await);
}

async fn lock_owned(mutex: Arc<Mutex<u32>>) {
    here!("locks::lock_owned");
    drop(mutex.lock_owned().await);
}

async fn mutexes(tasks: &mut Tasks) {
    let mutex: &'static Arc<Mutex<u32>> = leak(Arc::new(Mutex::new(0)));
    let wait = |ahead: &[Option<u64>]| queued("mutex", ahead).with("object", Arc::as_ptr(mutex));
    tasks.holds(mutex.lock().await);
    let first = tasks.waits(lock(mutex), "locks::lock", wait(&[]));
    let second = tasks.waits(lock_owned(mutex.clone()), "locks::lock_owned", wait(&[first]));
    tasks.waits(lock(mutex), "locks::lock", wait(&[first, second]));
}

async fn read(lock: &RwLock<u32>) {
    here!("locks::read");
    drop(lock.read().await);
}

async fn write(lock: &RwLock<u32>) {
    here!("locks::write");
    drop(lock.write().await);
}

async fn read_owned(lock: Arc<RwLock<u32>>) {
    here!("locks::read_owned");
    drop(lock.read_owned().await);
}

async fn write_owned(lock: Arc<RwLock<u32>>) {
    here!("locks::write_owned");
    drop(lock.write_owned().await);
}

async fn read_locked(tasks: &mut Tasks) {
    let lock: &'static Arc<RwLock<u32>> = leak(Arc::new(RwLock::new(0)));
    let wait = |kind, ahead: &[Option<u64>]| {
        let wait = queued(kind, ahead).with("object", Arc::as_ptr(lock));
        wait.with("readers", 2).with("writer", false)
    };
    tasks.holds(lock.read().await);
    tasks.holds(lock.clone().read_owned().await);
    let first = tasks.waits(write(lock), "locks::write", wait("rwlock_write", &[]));
    let second = tasks.waits(read(lock), "locks::read", wait("rwlock_read", &[first]));
    let third = read_owned(lock.clone());
    let third = tasks.waits(third, "locks::read_owned", wait("rwlock_read", &[first, second]));
    let wait = wait("rwlock_write", &[first, second, third]);
    tasks.waits(write_owned(lock.clone()), "locks::write_owned", wait);
}

async fn write_locked(tasks: &mut Tasks) {
    let lock: &'static RwLock<u32> = leak(RwLock::new(0));
    let wait = |kind, ahead: &[Option<u64>]| {
        let wait = queued(kind, ahead).with("object", lock as *const _);
        wait.with("readers", 0).with("writer", true)
    };
    tasks.holds(lock.write().await);
    let first = tasks.waits(read(lock), "locks::read", wait("rwlock_read", &[]));
    tasks.waits(write(lock), "locks::write", wait("rwlock_write", &[first]));
}

/// Five readers and one writer hold the same there.
async fn crowded(tasks: &mut Tasks) {
    let lock: &'static RwLock<u32> = leak(RwLock::with_max_readers(0, 5));
    let unknown = None::<u64>;
    let wait = queued("rwlock_read", &[]).with("permits_held", 5).with("writer", unknown);
    tasks.holds(lock.write().await);
    tasks.waits(read(lock), "locks::read", wait.with("readers", unknown));
}

async fn acquire(semaphore: &Semaphore, permits: u32) {
    here!("locks::acquire");
    drop(semaphore.acquire_many(permits).await);
}

async fn acquire_owned(semaphore: Arc<Semaphore>) {
    here!("locks::acquire_owned");
    drop(semaphore.acquire_owned().await);
}

async fn semaphores(tasks: &mut Tasks) {
    let semaphore: &'static Arc<Semaphore> = leak(Arc::new(Semaphore::new(5)));
    let wait = |wanted, missing, ahead: &[Option<u64>]| {
        let wait = queued("semaphore", ahead).with("object", Arc::as_ptr(semaphore));
        let wait = wait.with("permits_wanted", wanted).with("permits_missing", missing);
        // The first in the queue has taken the two that were left.
        wait.with("permits_available", 0)
    };
    tasks.holds(semaphore.acquire_many(3).await);
    let first = tasks.waits(acquire(semaphore, 4), "locks::acquire", wait(4, 2, &[]));
    let second = tasks.waits(acquire(semaphore, 2), "locks::acquire", wait(2, 2, &[first]));
    let third = acquire_owned(semaphore.clone());
    tasks.waits(third, "locks::acquire_owned", wait(1, 1, &[first, second]));
}

async fn lock_object(mutex: Arc<Mutex<dyn Debug + Send>>) {
    here!("locks::lock_object");
    drop(mutex.lock().await);
}

async fn lock_slice(mutex: Arc<Mutex<[u16]>>) {
    here!("locks::lock_slice");
    drop(mutex.lock_owned().await);
}

async fn write_object(lock: Arc<RwLock<dyn Debug + Send + Sync>>) {
    here!("locks::write_object");
    drop(lock.write().await);
}

/// Locks of what has no size of its own: the pointers to them are wide.
async fn unsized_locks(tasks: &mut Tasks) {
    let object: Arc<Mutex<dyn Debug + Send>> = Arc::new(Mutex::new(7u64));
    let object: &'static _ = leak(object);
    let wait = |ahead: &[Option<u64>]| {
        queued("mutex", ahead).with("object", Arc::as_ptr(object) as *const u8)
    };
    tasks.holds(object.lock().await);
    let first = tasks.waits(lock_object(object.clone()), "locks::lock_object", wait(&[]));
    tasks.waits(lock_object(object.clone()), "locks::lock_object", wait(&[first]));
    let slice: Arc<Mutex<[u16]>> = Arc::new(Mutex::new([1, 2]));
    let wait = queued("mutex", &[]).with("object", Arc::as_ptr(&slice) as *const u8);
    tasks.holds(slice.clone().lock_owned().await);
    tasks.waits(lock_slice(slice), "locks::lock_slice", wait);
    let shared: Arc<RwLock<dyn Debug + Send + Sync>> = Arc::new(RwLock::new(8u8));
    let wait = queued("rwlock_write", &[]).with("object", Arc::as_ptr(&shared) as *const u8);
    tasks.holds(shared.clone().read_owned().await);
    let wait = wait.with("readers", 1).with("writer", false);
    tasks.waits(write_object(shared), "locks::write_object", wait);
}

async fn never() -> u32 {
    here!("locks::never");
    sleep(FOREVER).await;
    0
}

async fn initialise(cell: &OnceCell<u32>) {
    here!("locks::initialise");
    cell.get_or_init(never).await;
}

async fn use_cell(cell: &OnceCell<u32>) {
    here!("locks::use_cell");
    cell.get_or_init(never).await;
}

async fn cells(tasks: &mut Tasks) {
    let cell: &'static OnceCell<u32> = leak(OnceCell::new());
    let wait = |ahead: &[Option<u64>]| {
        queued("once_cell", ahead).with("object", cell as *const _).with("value_set", false)
    };
    let chain = &["locks::initialise", "locks::never"];
    tasks.spawn(initialise(cell), |id| Task::idle(id, chain).sleeps());
    let first = tasks.waits(use_cell(cell), "locks::use_cell", wait(&[]));
    tasks.waits(use_cell(cell), "locks::use_cell", wait(&[first]));
}

async fn be_notified(notify: &Notify) {
    here!("locks::be_notified");
    notify.notified().await;
}

async fn notifies(tasks: &mut Tasks) {
    let notify: &'static Notify = leak(Notify::new());
    let wait = |ahead: &[Option<u64>]| {
        let wait = Wait::new("notify").with("position", ahead.len() as i32 + 1);
        wait.with("tasks_ahead", ahead.to_vec()).with("object", notify as *const _)
    };
    let first = tasks.waits(be_notified(notify), "locks::be_notified", wait(&[]));
    tasks.waits(be_notified(notify), "locks::be_notified", wait(&[first]));
}

async fn meet(barrier: &Barrier) {
    here!("locks::meet");
    barrier.wait().await;
}

async fn barriers(tasks: &mut Tasks) {
    let barrier: &'static Barrier = leak(Barrier::new(4));
    for _ in 0..3 {
        let wait =
            Wait::new("barrier").with("arrived", 3).with("wanted", 4).with("complete", false);
        tasks.waits(meet(barrier), "locks::meet", wait.with("object", barrier as *const _));
    }
}

async fn until_cancelled(token: CancellationToken) {
    here!("locks::until_cancelled");
    token.cancelled().await;
}

async fn until_child_cancelled(token: CancellationToken) {
    here!("locks::until_child_cancelled");
    token.child_token().cancelled_owned().await;
}

async fn cancellations(tasks: &mut Tasks) {
    let token = leak(CancellationToken::new());
    let wait = Wait::new("cancellation").with("cancelled", false);
    tasks.waits(until_cancelled(token.clone()), "locks::until_cancelled", wait.clone());
    tasks.waits(until_child_cancelled(token.clone()), "locks::until_child_cancelled", wait);
}

async fn wait_anew(future: Pin<Box<dyn Future<Output = ()> + Send>>) {
    here!("locks::wait_anew");
    future.await;
}

// Tasks of a current_thread runtime are polled in the order in which they were spawned.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    mutexes(&mut tasks).await;
    read_locked(&mut tasks).await;
    write_locked(&mut tasks).await;
    crowded(&mut tasks).await;
    semaphores(&mut tasks).await;
    unsized_locks(&mut tasks).await;
    cells(&mut tasks).await;
    notifies(&mut tasks).await;
    barriers(&mut tasks).await;
    cancellations(&mut tasks).await;
    for (wait, future) in truth_tokio::new_waits() {
        tasks.waits(wait_anew(future), "locks::wait_anew", wait);
    }
    Truth::new("locks")
        .runtime(truth_tokio::current("current_thread", 1))
        .tasks(tasks.0)
        .block_on(&["locks::main::{async_block#0}"])
        .publish();
    here!("locks::main::{async_block#0}");
    std::future::pending::<()>().await;
}
