//! Tasks of two `LocalPool`s of futures, beside one of tokio: in one pool all wait, the other is
//! stuck in a task that has just spawned another.

use std::future::{pending, poll_fn, Future};
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures_executor::{LocalPool, LocalSpawner};
use futures_util::future::RemoteHandle;
use futures_util::task::LocalSpawnExt;
use tokio::sync::{oneshot, Mutex};
use truth::graph::{address, Graph, Node};
use truth::{here, leak, Blocked, Hold, Runtime, Task, Truth, Wait};

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

async fn hold(mutex: &Mutex<u32>) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("localpool::hold");
    pending::<()>().await;
}

async fn lock(mutex: &Mutex<u32>) {
    polled("lock").await;
    here!("localpool::lock");
    drop(mutex.lock().await);
}

async fn receive(receiver: oneshot::Receiver<u32>) {
    polled("receive").await;
    here!("localpool::receive");
    let _ = receiver.await;
}

async fn inner(depth: u32) -> u32 {
    here!("localpool::inner");
    pending::<()>().await;
    depth
}

async fn outer() {
    polled("outer").await;
    let boxed: Pin<Box<dyn Future<Output = u32>>> = Box::pin(inner(2));
    here!("localpool::outer");
    boxed.await;
}

async fn compute() -> u32 {
    polled("compute").await;
    here!("localpool::compute");
    pending().await
}

async fn join(handle: RemoteHandle<u32>) {
    polled("join").await;
    here!("localpool::join");
    handle.await;
}

async fn root(receiver: oneshot::Receiver<u32>) {
    here!("localpool::root");
    let _ = receiver.await;
}

/// A pool in `run_until()`, all of whose tasks wait.
fn wait_in_pool(mutex: &'static Mutex<u32>, receivers: [oneshot::Receiver<u32>; 2]) {
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    let [first, second] = receivers;
    spawner.spawn_local(hold(mutex)).unwrap();
    spawner.spawn_local(lock(mutex)).unwrap();
    spawner.spawn_local(receive(first)).unwrap();
    spawner.spawn_local(outer()).unwrap();
    let handle = spawner.spawn_local_with_handle(compute()).unwrap();
    spawner.spawn_local(join(handle)).unwrap();
    pool.run_until(root(second));
}

async fn fresh() {}

async fn waits() {
    polled("waits").await;
    here!("localpool::waits");
    pending::<()>().await;
}

async fn stick(spawner: LocalSpawner) {
    polled("stick").await;
    spawner.spawn_local(fresh()).unwrap();
    here!("localpool::stick");
    let _guard = TAKEN.lock();
}

/// A pool in `run()`, whose thread a task blocks.
fn stick_in_pool() {
    let mut pool = LocalPool::new();
    let spawner = pool.spawner();
    spawner.spawn_local(waits()).unwrap();
    spawner.spawn_local(stick(spawner.clone())).unwrap();
    pool.run();
}

async fn on_tokio() {
    here!("localpool::on_tokio");
    tokio::time::sleep(truth::FOREVER).await;
}

/// Of a channel whose sender is never used.
fn receiver() -> oneshot::Receiver<u32> {
    let (sender, receiver) = oneshot::channel();
    leak(sender);
    receiver
}

fn pool() -> Runtime {
    Runtime {
        kind: "futures_executor",
        flavor: "local_pool",
        workers: Some(1),
        name: None,
        alive: None,
        queued: None,
    }
}

fn truth(mutex: &'static Mutex<u32>, tokio: Runtime, on_tokio: Option<u64>) -> Truth {
    let oneshot = Wait::new("oneshot").with("sender_alive", true).with("value_there", false);
    let locks = Wait::new("mutex").with("object", mutex as *const _).with("position", 1);
    let mut graph = Graph::new();
    let of = |name| Node::task(task(name));
    graph.waits(of("lock"), "mutex", address(mutex), &[of("hold")]);
    Truth::new("localpool")
        .runtime(tokio)
        .runtime(pool())
        .runtime(pool())
        .task(Task::idle(on_tokio, &["localpool::on_tokio"]).sleeps())
        .task(Task::idle(task("hold"), &["localpool::hold"]).on(1))
        .task(Task::idle(task("lock"), &["localpool::lock"]).waits(locks).on(1))
        .task(Task::idle(task("receive"), &["localpool::receive"]).waits(oneshot.clone()).on(1))
        .task(Task::idle(task("outer"), &["localpool::outer", "localpool::inner"]).on(1))
        .task(Task::idle(task("compute"), &["localpool::compute"]).on(1))
        .task(Task::idle(task("join"), &["localpool::join"]).on(1))
        .task(Task::idle(task("waits"), &["localpool::waits"]).on(2))
        .task(Task::blocked(task("stick"), "localpool::stick").on(2))
        .task(Task::unpolled(None, "localpool::fresh").on(2))
        .block_on_waits(&["localpool::root"], oneshot)
        .blocked(vec![Blocked::new("std_mutex", task("stick"), None)])
        .holds([
            Hold::lock(task("hold"), "mutex", mutex).path("_guard"),
            Hold::new(task("receive"), "receiver", "oneshot", 0),
            // Those of the remote handle, a oneshot channel of futures.
            Hold::new(task("compute"), "sender", "oneshot", 0).path("tx"),
            Hold::new(task("join"), "receiver", "oneshot", 0),
        ])
        .graph(graph)
}

fn main() {
    let mutex: &'static Mutex<u32> = leak(Mutex::new(0));
    let receivers = [receiver(), receiver()];
    leak(TAKEN.lock());
    let builder = |name: &str| thread::Builder::new().name(name.to_string());
    builder("waits").spawn(move || wait_in_pool(mutex, receivers)).unwrap();
    builder("sticks").spawn(stick_in_pool).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let id = truth::id(&runtime.spawn(on_tokio()));
    while TASKS.lock().unwrap().len() < 8 {
        thread::sleep(Duration::from_millis(1));
    }
    truth(mutex, truth_tokio::describe(runtime.handle(), "multi_thread", 1), id).publish();
    loop {
        thread::park();
    }
}
