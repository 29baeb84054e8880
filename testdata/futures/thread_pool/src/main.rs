//! Tasks of a `ThreadPool` of futures with three threads, one of them busy, and of one whose only
//! thread is stuck in a task that has just spawned another.

use std::future::{poll_fn, Future};
use std::hint;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_io::{Async, Timer};
use futures::channel::{mpsc, oneshot};
use futures::executor::ThreadPool;
use futures::future::{self, RemoteHandle};
use futures::lock::Mutex;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::SpawnExt;
use truth::graph::{address, Graph, Node};
use truth::tree::at;
use truth::{busy, here, leak, Blocked, Hold, Runtime, Task, Truth, Wait};

type Lock = &'static Mutex<u32>;

/// The tasks that were polled: their names, and the data of their wakers.
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

/// Of a channel whose sender is never used.
fn never() -> oneshot::Receiver<u32> {
    let (sender, receiver) = oneshot::channel();
    leak(sender);
    receiver
}

/// Lets other tasks run once.
async fn yield_now() {
    let mut first = true;
    poll_fn(|cx| {
        if !first {
            return Poll::Ready(());
        }
        first = false;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

async fn hold(mutex: Lock) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("thread_pool::hold");
    let _ = never().await;
}

async fn lock(mutex: Lock) {
    polled("lock").await;
    while task("hold").is_none() {
        yield_now().await;
    }
    here!("thread_pool::lock");
    *mutex.lock().await += 1;
}

async fn cross(name: &'static str, own: Lock, other: Lock, partner: &'static str) {
    let guard = own.lock().await;
    polled(name).await;
    while task(partner).is_none() {
        yield_now().await;
    }
    here!("thread_pool::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn receive(mut receiver: mpsc::Receiver<u32>) {
    polled("receive").await;
    here!("thread_pool::receive");
    receiver.next().await;
}

async fn inner(depth: u32) -> u32 {
    here!("thread_pool::inner");
    let _ = never().await;
    depth
}

async fn outer() {
    polled("outer").await;
    let boxed: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(inner(2));
    here!("thread_pool::outer");
    boxed.await;
}

async fn nap() {
    polled("nap").await;
    here!("thread_pool::nap");
    Timer::after(truth::FOREVER).await;
}

async fn accepts(listener: Async<TcpListener>) {
    polled("accepts").await;
    here!("thread_pool::accepts");
    let _ = listener.accept().await;
}

async fn left() {
    here!("thread_pool::left");
    let _ = never().await;
}

async fn right() {
    here!("thread_pool::right");
    Timer::after(truth::FOREVER).await;
}

async fn either() {
    polled("either").await;
    here!("thread_pool::either");
    future::select(Box::pin(left()), Box::pin(right())).await;
}

async fn both() {
    polled("both").await;
    here!("thread_pool::both");
    future::join(left(), right()).await;
}

async fn set() {
    let mut set: FuturesUnordered<_> = [left(), left()].into_iter().collect();
    polled("set").await;
    here!("thread_pool::set");
    set.next().await;
}

async fn compute() -> u32 {
    polled("compute").await;
    here!("thread_pool::compute");
    let _ = never().await;
    1
}

async fn join(handle: RemoteHandle<u32>) {
    polled("join").await;
    here!("thread_pool::join");
    handle.await;
}

async fn burn() {
    polled("burn").await;
    busy();
    loop {
        hint::spin_loop();
    }
}

async fn fresh() {}

async fn stick(pool: ThreadPool) {
    polled("stick").await;
    pool.spawn(fresh()).unwrap();
    here!("thread_pool::stick");
    let _guard = TAKEN.lock();
}

fn mutex() -> Lock {
    leak(Mutex::new(0))
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPool::builder().pool_size(threads).create().unwrap()
}

fn runtime(workers: usize) -> Runtime {
    Runtime {
        kind: "futures_executor",
        flavor: "thread_pool",
        workers: Some(workers),
        name: None,
        alive: None,
        queued: None,
    }
}

fn spawn_on(pool: &ThreadPool, [mutex, first, second]: [Lock; 3]) {
    pool.spawn(hold(mutex)).unwrap();
    pool.spawn(lock(mutex)).unwrap();
    pool.spawn(cross("cross", first, second, "back")).unwrap();
    pool.spawn(cross("back", second, first, "cross")).unwrap();
    let (sender, receiver) = mpsc::channel(1);
    leak(sender);
    pool.spawn(receive(receiver)).unwrap();
    pool.spawn(outer()).unwrap();
    pool.spawn(nap()).unwrap();
    pool.spawn(either()).unwrap();
    pool.spawn(both()).unwrap();
    pool.spawn(set()).unwrap();
    let handle = pool.spawn_with_handle(compute()).unwrap();
    pool.spawn(join(handle)).unwrap();
}

/// Who waits for whom.
fn graph([mutex, first, second]: [Lock; 3]) -> Graph {
    let of = |name| Node::task(task(name));
    let mut graph = Graph::new();
    graph.waits(of("lock"), "mutex", address(mutex), &[of("hold")]);
    graph.waits(of("cross"), "mutex", address(second), &[of("back")]);
    graph.waits(of("back"), "mutex", address(first), &[of("cross")]);
    graph.deadlock(&[of("cross"), of("back")]);
    graph
}

fn tasks(locks: [Lock; 3], fd: RawFd) -> Vec<Task> {
    let [mutex, first, second] = locks;
    let for_lock = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    let idle = |name: &str, chain: &[&'static str]| Task::idle(task(name), chain);
    let two = |name: &str, tree| Task::idle_tree(task(name), tree);
    let left = || at("thread_pool::left");
    let right = || at("thread_pool::right");
    let never = || Wait::new("oneshot").with("sender_alive", true).with("polled", true);
    let received = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let socket = Wait::new("io").with("direction", "readable").with("fd", fd);
    vec![
        idle("hold", &["thread_pool::hold"]).waits(never()),
        idle("lock", &["thread_pool::lock"]).waits(for_lock(mutex)),
        idle("cross", &["thread_pool::cross"]).waits(for_lock(second)),
        idle("back", &["thread_pool::cross"]).waits(for_lock(first)),
        idle("receive", &["thread_pool::receive"]).waits(received),
        idle("outer", &["thread_pool::outer", "thread_pool::inner"]).waits(never()),
        idle("nap", &["thread_pool::nap"]).sleeps(),
        idle("accepts", &["thread_pool::accepts"]).waits(socket),
        two("either", at("thread_pool::either").select(0, left()).select(1, right())),
        two("both", at("thread_pool::both").join(0, left()).join(1, right())),
        two("set", at("thread_pool::set").set(left().times(2))),
        idle("compute", &["thread_pool::compute"]).waits(never()),
        idle("join", &["thread_pool::join"]),
        Task::running(task("burn"), &["thread_pool::burn"]),
        Task::blocked(task("stick"), "thread_pool::stick").on(1),
        Task::unpolled(None, "thread_pool::fresh").on(1),
    ]
}

fn truth(locks: [Lock; 3], fd: RawFd) -> Truth {
    let [mutex, first, second] = locks;
    let received = |name| Hold::new(task(name), "receiver", "oneshot", 0);
    Truth::new("thread_pool")
        .runtime(runtime(3))
        .runtime(runtime(1))
        .tasks(tasks(locks, fd))
        .blocked(vec![
            Blocked::new("std_mutex", task("stick"), None),
            Blocked::new("compute", task("burn"), None),
        ])
        .holds([
            Hold::lock(task("hold"), "mutex", mutex).path("_guard"),
            Hold::lock(task("cross"), "mutex", first).path("guard"),
            Hold::lock(task("back"), "mutex", second).path("guard"),
            Hold::new(task("receive"), "receiver", "mpsc", 0),
            Hold::new(task("accepts"), "descriptor", "io", 0).path("listener.io"),
            received("hold"),
            received("outer"),
            received("either"),
            received("both"),
            received("set"),
            received("set"),
            received("compute"),
            // Those of the remote handle.
            Hold::new(task("compute"), "sender", "oneshot", 0).path("tx"),
            received("join"),
        ])
        .graph(graph(locks))
}

fn wait_for(tasks: usize) {
    while TASKS.lock().unwrap().len() < tasks {
        thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    leak(TAKEN.lock());
    let locks = [mutex(), mutex(), mutex()];
    let pool_of_three = pool(3);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let fd = listener.as_raw_fd();
    spawn_on(&pool_of_three, locks);
    pool_of_three.spawn(accepts(Async::new(listener).unwrap())).unwrap();
    wait_for(13);
    // Only now, so that it keeps no other from a thread.
    pool_of_three.spawn(burn()).unwrap();
    wait_for(14);
    let pool_of_one = pool(1);
    pool_of_one.spawn(stick(pool_of_one.clone())).unwrap();
    wait_for(15);
    truth(locks, fd).publish();
    loop {
        thread::park();
    }
}
