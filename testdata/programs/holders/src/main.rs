//! Tasks that hold what others wait for, in every place where a guard can lie; and some that hold
//! nothing any more though it looks so.

mod counted;
mod lent;
mod own_pool;
mod parts;
mod places;

use std::future::Future;
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard, OwnedMutexGuard};
use tokio::task::LocalSet;
use tokio::time::sleep;
use truth::{declared, declares, here, leak, Hold, Task, Truth, Wait, FOREVER};

pub type Lock = &'static Arc<Mutex<u32>>;

pub fn lock() -> Lock {
    leak(Arc::new(Mutex::new(0)))
}

/// Spawns tasks and collects what is true of them.
#[derive(Default)]
pub struct Tasks {
    pub tasks: Vec<Task>,
    pub holds: Vec<Hold>,
}

impl Tasks {
    /// A task that sleeps at the end of this chain.
    pub fn sleeps(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        chain: &[&'static str],
    ) -> Option<u64> {
        let id = truth::id(&tokio::spawn(future));
        self.tasks.push(Task::idle(id, chain).sleeps());
        id
    }

    /// The same of one that has this guard, and another task that waits for the lock.
    pub fn holds_one(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        chain: &[&'static str],
        path: &'static str,
        lock: Lock,
    ) {
        let id = self.sleeps(future, chain);
        let hold = Hold::lock(id, "mutex", Arc::as_ptr(lock));
        self.holds.push(if path.is_empty() { hold } else { hold.path(path) });
        self.waits(lock);
    }

    pub fn waits(&mut self, lock: Lock) {
        let id = truth::id(&tokio::spawn(wait(lock)));
        let wait = Wait::new("mutex").with("object", Arc::as_ptr(lock)).with("position", 1);
        self.tasks.push(Task::idle(id, &["holders::wait"]).waits(wait));
    }
}

async fn wait(lock: Lock) {
    // What the others lock comes first.
    tokio::task::yield_now().await;
    here!("holders::wait");
    drop(lock.lock().await);
}

pub async fn hold(lock: Lock) {
    declares!("holders::hold guard");
    let mut guard = lock.lock().await;
    *guard += 1;
    here!("holders::hold");
    sleep(FOREVER).await;
    drop(guard);
}

/// Used and dropped before the await.
async fn dropped(lock: Lock) {
    let mut guard = lock.lock().await;
    *guard += 1;
    drop(guard);
    here!("holders::dropped");
    sleep(FOREVER).await;
}

async fn keeps(guard: OwnedMutexGuard<u32>) {
    declared!("holders::keeps guard");
    here!("holders::keeps");
    sleep(FOREVER).await;
    drop(guard);
}

/// Used here, then moved into a task of its own.
async fn hands_over(guard: OwnedMutexGuard<u32>, out: tokio::sync::oneshot::Sender<Option<u64>>) {
    let mut mine = guard;
    *mine += 1;
    let _ = out.send(truth::id(&tokio::spawn(keeps(mine))));
    here!("holders::hands_over");
    sleep(FOREVER).await;
}

/// Of two variables of one name the debug info has one place.
async fn hides(one: Lock, two: Lock) {
    let guard = one.lock().await;
    declares!("holders::hides second");
    let guard = (guard, two.lock().await);
    here!("holders::hides");
    sleep(FOREVER).await;
    drop(guard);
}

/// The first one is none any more at the second await, and is in scope all the same.
async fn replaces(one: Lock, two: Lock) {
    let guard = one.lock().await;
    drop(guard);
    declares!("holders::replaces second");
    let guard = two.lock().await;
    here!("holders::replaces");
    sleep(FOREVER).await;
    drop(guard);
}

/// Three awaits of the same, and each of its own guard.
async fn one_of(number: u32, lock: Lock) {
    if number == 0 {
        let guard = lock.lock().await;
        sleep(FOREVER).await;
        drop(guard);
    } else if number == 1 {
        declares!("holders::one_of guard");
        let guard = lock.lock().await;
        here!("holders::one_of");
        sleep(FOREVER).await;
        drop(guard);
    }
    let guard = lock.lock().await;
    sleep(FOREVER).await;
    drop(guard);
}

fn of_one_name(tasks: &mut Tasks) {
    let (one, two) = (lock(), lock());
    let id = tasks.sleeps(replaces(one, two), &["holders::replaces"]);
    let hold = Hold::lock(id, "mutex", Arc::as_ptr(two)).path("guard");
    tasks.holds.push(hold.made("holders::replaces second"));
    tasks.waits(two);
    let one = lock();
    tasks.holds_one(one_of(1, one), &["holders::one_of"], "guard", one);
    let (one, two) = (lock(), lock());
    let id = tasks.sleeps(hides(one, two), &["holders::hides"]);
    let hold = Hold::lock(id, "mutex", Arc::as_ptr(one)).path("guard.0");
    tasks.holds.push(hold.made("holders::hides second"));
    let hold = Hold::lock(id, "mutex", Arc::as_ptr(two)).path("guard.1");
    tasks.holds.push(hold.made("holders::hides second"));
}

async fn handed_over(tasks: &mut Tasks) {
    let lock = lock();
    let guard = lock.clone().lock_owned().await;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let giver = tasks.sleeps(hands_over(guard, sender), &["holders::hands_over"]);
    let taker = receiver.await.expect("it was spawned");
    tasks.tasks.push(Task::idle(taker, &["holders::keeps"]).sleeps());
    tasks.holds.push(Hold::lock(taker, "mutex", Arc::as_ptr(lock)).path("guard"));
    tasks.holds.push(Hold::lock(giver, "mutex", Arc::as_ptr(lock)).path("mine").stale());
    tasks.waits(lock);
}

/// Of a value that has no name.
async fn temporary(lock: Lock) {
    here!("holders::temporary");
    nap(&mut *lock.lock().await).await;
}

async fn nap(number: &mut u32) {
    here!("holders::nap");
    sleep(FOREVER).await;
    *number += 1;
}

fn simple(tasks: &mut Tasks) {
    let one = lock();
    tasks.holds_one(hold(one), &["holders::hold"], "guard", one);
    let one = lock();
    tasks.holds_one(temporary(one), &["holders::temporary", "holders::nap"], "", one);
    let one = lock();
    // Nobody has it.
    tasks.sleeps(dropped(one), &["holders::dropped"]);
    tasks.holds.push(Hold::lock(None, "free", Arc::as_ptr(one)));
}

/// A guard that is made for others to hold.
pub async fn guard(lock: Lock) -> MutexGuard<'static, u32> {
    lock.lock().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let local = LocalSet::new();
    here!("holders::main::{async_block#0}");
    local.run_until(run()).await;
}

async fn run() {
    let mut tasks = Tasks::default();
    simple(&mut tasks);
    handed_over(&mut tasks).await;
    places::messages(&mut tasks).await;
    of_one_name(&mut tasks);
    places::collections(&mut tasks).await;
    places::futures(&mut tasks).await;
    places::outputs(&mut tasks).await;
    places::read_write(&mut tasks).await;
    places::permits(&mut tasks).await;
    places::mapped(&mut tasks).await;
    places::channels(&mut tasks);
    places::granted(&mut tasks).await;
    places::of_threads(&mut tasks);
    parts::all(&mut tasks).await;
    own_pool::all(&mut tasks).await;
    counted::start(&mut tasks);
    lent::all(&mut tasks).await;
    Truth::new("holders")
        .runtime(truth_tokio::current("current_thread", 1))
        .tasks(tasks.tasks)
        .holds(tasks.holds)
        .block_on(&["holders::main::{async_block#0}", "holders::run"])
        .publish();
    here!("holders::run");
    std::future::pending::<()>().await;
}
