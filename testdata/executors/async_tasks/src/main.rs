//! Tasks of an `Executor` that three threads run, one of them busy, and of two `LocalExecutor`s:
//! of one all tasks wait, the other is stuck in a task that has just spawned another.

use std::future::{pending, poll_fn, Future};
use std::hint;
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_channel::Receiver;
use async_executor::{Executor, LocalExecutor, Task as Handle};
use async_io::Timer;
use async_lock::Mutex;
use futures_lite::future;
use truth::graph::{address, Graph, Node};
use truth::tree::at;
use truth::{busy, here, leak, Blocked, Hold, Runtime, Task, Truth, Wait};

type Pool = &'static Executor<'static>;
type Local = &'static LocalExecutor<'static>;
type Lock = &'static Mutex<u32>;

/// The tasks that were polled: their names, and where each is, which is the data of its waker.
static TASKS: StdMutex<Vec<(&str, u64)>> = StdMutex::new(Vec::new());
static TAKEN: StdMutex<()> = StdMutex::new(());

async fn polled(name: &'static str) {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    TASKS.lock().unwrap().push((name, id));
}

fn task(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

async fn hold(mutex: Lock) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("async_tasks::hold");
    pending::<()>().await;
}

async fn lock(mutex: Lock) {
    polled("lock").await;
    while task("hold").is_none() {
        future::yield_now().await;
    }
    here!("async_tasks::lock");
    *mutex.lock().await += 1;
}

async fn cross(name: &'static str, own: Lock, other: Lock, partner: &'static str) {
    let guard = own.lock().await;
    polled(name).await;
    while task(partner).is_none() {
        future::yield_now().await;
    }
    here!("async_tasks::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn receive(name: &'static str, receiver: Receiver<u32>) {
    polled(name).await;
    here!("async_tasks::receive");
    let _ = receiver.recv().await;
}

async fn inner(depth: u32) -> u32 {
    here!("async_tasks::inner");
    pending::<()>().await;
    depth
}

async fn outer(name: &'static str) {
    polled(name).await;
    let boxed: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(inner(2));
    here!("async_tasks::outer");
    boxed.await;
}

async fn nap() {
    polled("nap").await;
    here!("async_tasks::nap");
    Timer::after(truth::FOREVER).await;
}

async fn left() {
    here!("async_tasks::left");
    pending::<()>().await;
}

async fn right() {
    here!("async_tasks::right");
    Timer::after(truth::FOREVER).await;
}

async fn either() {
    polled("either").await;
    here!("async_tasks::either");
    future::or(left(), right()).await;
}

async fn both() {
    polled("both").await;
    here!("async_tasks::both");
    future::zip(left(), right()).await;
}

async fn compute(name: &'static str) -> u32 {
    polled(name).await;
    here!("async_tasks::compute");
    pending().await
}

async fn join(name: &'static str, handle: Handle<u32>) {
    polled(name).await;
    here!("async_tasks::join");
    handle.await;
}

/// So large that executors box it.
async fn large() {
    let bytes = [1u8; 4096];
    polled("large").await;
    here!("async_tasks::large");
    pending::<()>().await;
    hint::black_box(&bytes);
}

async fn burn() {
    polled("burn").await;
    busy();
    loop {
        hint::spin_loop();
    }
}

async fn fresh() {}

async fn stick(local: Local) {
    polled("stick").await;
    local.spawn(fresh()).detach();
    here!("async_tasks::stick");
    let _guard = TAKEN.lock();
}

/// Of a channel whose sender is never used.
fn receiver() -> Receiver<u32> {
    let (sender, receiver) = async_channel::bounded(1);
    leak(sender);
    receiver
}

fn mutex() -> Lock {
    leak(Mutex::new(0))
}

fn local() -> Local {
    leak(LocalExecutor::new())
}

fn wait_locally() {
    let local = local();
    local.spawn(outer("local_outer")).detach();
    local.spawn(receive("local_receive", receiver())).detach();
    let handle = local.spawn(compute("local_compute"));
    local.spawn(join("local_join", handle)).detach();
    future::block_on(local.run(root()));
}

async fn root() {
    here!("async_tasks::root");
    pending::<()>().await;
}

fn stick_locally() {
    let local = local();
    local.spawn(stick(local)).detach();
    future::block_on(local.run(pending::<()>()));
}

fn executor() -> Runtime {
    Runtime {
        kind: "async_executor",
        flavor: "executor",
        workers: None,
        name: None,
        alive: None,
        queued: None,
    }
}

fn spawn_on(pool: Pool, locks: [Lock; 3]) {
    let [mutex, first, second] = locks;
    pool.spawn(hold(mutex)).detach();
    pool.spawn(lock(mutex)).detach();
    pool.spawn(cross("cross", first, second, "back")).detach();
    pool.spawn(cross("back", second, first, "cross")).detach();
    pool.spawn(receive("receive", receiver())).detach();
    pool.spawn(outer("outer")).detach();
    pool.spawn(nap()).detach();
    pool.spawn(either()).detach();
    pool.spawn(both()).detach();
    let handle = pool.spawn(compute("compute"));
    pool.spawn(join("join", handle)).detach();
    pool.spawn(large()).detach();
}

/// Who waits for whom among the tasks of the three threads, and who of all has no waker.
fn graph([mutex, first, second]: [Lock; 3]) -> Graph {
    let of = |name| Node::task(task(name));
    let mut graph = Graph::new();
    graph.waits(of("lock"), "mutex", address(mutex), &[of("hold")]);
    graph.waits(of("cross"), "mutex", address(second), &[of("back")]);
    graph.waits(of("back"), "mutex", address(first), &[of("cross")]);
    graph.deadlock(&[of("cross"), of("back")]);
    graph
}

fn truth(locks: [Lock; 3]) -> Truth {
    let [mutex, first, second] = locks;
    let for_lock = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    let idle = |name: &str, chain: &[&'static str]| Task::idle(task(name), chain);
    let join = |name: &str, of: &str| idle(name, &["async_tasks::join"]).joins(task(of));
    let received = Wait::new("channel_recv").with("senders", 1);
    let two = |name: &str, tree| Task::idle_tree(task(name), tree);
    let left = || at("async_tasks::left");
    let right = || at("async_tasks::right");
    Truth::new("async_tasks")
        .runtime(executor())
        .runtime(executor())
        .runtime(executor())
        .task(idle("hold", &["async_tasks::hold"]))
        .task(idle("lock", &["async_tasks::lock"]).waits(for_lock(mutex)))
        .task(idle("cross", &["async_tasks::cross"]).waits(for_lock(second)))
        .task(idle("back", &["async_tasks::cross"]).waits(for_lock(first)))
        .task(idle("receive", &["async_tasks::receive"]).waits(received.clone()))
        .task(idle("outer", &["async_tasks::outer", "async_tasks::inner"]))
        .task(idle("nap", &["async_tasks::nap"]).sleeps())
        .task(two("either", at("async_tasks::either").select(0, left()).select(1, right())))
        .task(two("both", at("async_tasks::both").join(0, left()).join(1, right())))
        .task(idle("compute", &["async_tasks::compute"]))
        .task(join("join", "compute"))
        .task(idle("large", &["async_tasks::large"]))
        .task(Task::running(task("burn"), &["async_tasks::burn"]))
        .task(idle("local_outer", &["async_tasks::outer", "async_tasks::inner"]).on(1))
        .task(idle("local_receive", &["async_tasks::receive"]).waits(received).on(1))
        .task(idle("local_compute", &["async_tasks::compute"]).on(1))
        .task(join("local_join", "local_compute").on(1))
        .task(Task::blocked(task("stick"), "async_tasks::stick").on(2))
        .task(Task::unpolled(None, "async_tasks::fresh").on(2))
        .block_on(&["async_tasks::root"])
        .blocked(vec![
            Blocked::new("std_mutex", task("stick"), None),
            Blocked::new("compute", task("burn"), None),
        ])
        .holds([
            Hold::lock(task("hold"), "mutex", mutex).path("_guard"),
            Hold::lock(task("cross"), "mutex", first).path("guard"),
            Hold::lock(task("back"), "mutex", second).path("guard"),
            Hold::new(task("receive"), "receiver", "channel", 0),
            Hold::new(task("local_receive"), "receiver", "channel", 0),
        ])
        .graph(graph(locks))
}

fn main() {
    leak(TAKEN.lock());
    let locks = [mutex(), mutex(), mutex()];
    let pool: Pool = leak(Executor::new());
    let builder = |name: &str| thread::Builder::new().name(name.to_string());
    spawn_on(pool, locks);
    for name in ["worker-1", "worker-2", "worker-3"] {
        builder(name).spawn(move || async_io::block_on(pool.run(pending::<()>()))).unwrap();
    }
    builder("local").spawn(wait_locally).unwrap();
    builder("stuck").spawn(stick_locally).unwrap();
    let tasks = || TASKS.lock().unwrap().len();
    while tasks() < 17 {
        thread::sleep(Duration::from_millis(1));
    }
    // Only now, so that it keeps no other from a thread.
    pool.spawn(burn()).detach();
    while tasks() < 18 {
        thread::sleep(Duration::from_millis(1));
    }
    truth(locks).publish();
    loop {
        thread::park();
    }
}
