//! async-std: tasks on its global executor, which its threads run beside a local one of each, and
//! tasks of the local executor of the thread in `block_on`.

use std::future::{pending, poll_fn, Future};
use std::net;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_std::channel::{self, Receiver, Sender};
use async_std::future as std_future;
use async_std::net::{TcpListener, TcpStream, UdpSocket};
use async_std::os::unix::net::UnixStream;
use async_std::prelude::*;
use async_std::sync::{Barrier, Condvar, Mutex, RwLock};
use async_std::task::{self, Builder, JoinHandle};
use truth::graph::{address, Graph, Node};
use truth::tree::at;
use truth::{here, leak, Hold, Runtime, Task, Truth, Wait};

type Lock = &'static Mutex<u32>;
type Boxed = Pin<Box<dyn Future<Output = u32> + Send>>;

/// The tasks that were polled: their names, where each is, which is the data of its waker, and
/// async-std's id of it.
static TASKS: StdMutex<Vec<(&str, u64, i64)>> = StdMutex::new(Vec::new());

async fn polled(name: &'static str) {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    let number = task::current().id().to_string().parse().expect("an id is a number");
    TASKS.lock().unwrap().push((name, id, number));
}

fn id(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

async fn hold(mutex: Lock) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("async_std_tasks::hold");
    pending::<()>().await;
}

async fn lock(mutex: Lock) {
    polled("lock").await;
    while id("hold").is_none() {
        task::yield_now().await;
    }
    here!("async_std_tasks::lock");
    *mutex.lock().await += 1;
}

async fn cross(name: &'static str, own: Lock, other: Lock, partner: &'static str) {
    let guard = own.lock().await;
    polled(name).await;
    while id(partner).is_none() {
        task::yield_now().await;
    }
    here!("async_std_tasks::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn read(values: &'static RwLock<u32>) {
    let _guard = values.read().await;
    polled("read").await;
    here!("async_std_tasks::read");
    pending::<()>().await;
}

async fn write(values: &'static RwLock<u32>) {
    polled("write").await;
    while id("read").is_none() {
        task::yield_now().await;
    }
    here!("async_std_tasks::write");
    *values.write().await += 1;
}

async fn meet(barrier: &'static Barrier) {
    polled("meet").await;
    here!("async_std_tasks::meet");
    barrier.wait().await;
}

async fn notified(mutex: Lock, condvar: &'static Condvar) {
    let guard = mutex.lock().await;
    polled("notified").await;
    here!("async_std_tasks::notified");
    condvar.wait(guard).await;
}

async fn receive(name: &'static str, receiver: Receiver<u32>) {
    polled(name).await;
    here!("async_std_tasks::receive");
    let _ = receiver.recv().await;
}

async fn send(sender: Sender<u32>) {
    let _ = sender.send(1).await;
    polled("send").await;
    here!("async_std_tasks::send");
    let _ = sender.send(2).await;
}

async fn inner(depth: u32) -> u32 {
    here!("async_std_tasks::inner");
    pending::<()>().await;
    depth
}

async fn outer(name: &'static str) {
    polled(name).await;
    let boxed: Boxed = Box::pin(inner(2));
    here!("async_std_tasks::outer");
    boxed.await;
}

async fn nap() {
    polled("nap").await;
    here!("async_std_tasks::nap");
    task::sleep(truth::FOREVER).await;
}

async fn limit() {
    polled("limit").await;
    here!("async_std_tasks::limit");
    let _ = std_future::timeout(truth::FOREVER, left()).await;
}

async fn left() {
    here!("async_std_tasks::left");
    pending::<()>().await;
}

async fn right() {
    here!("async_std_tasks::right");
    task::sleep(truth::FOREVER).await;
}

async fn either() {
    polled("either").await;
    here!("async_std_tasks::either");
    left().race(right()).await;
}

async fn both() {
    polled("both").await;
    here!("async_std_tasks::both");
    left().join(right()).await;
}

async fn compute(name: &'static str) -> u32 {
    polled(name).await;
    here!("async_std_tasks::compute");
    pending().await
}

async fn join(name: &'static str, handle: JoinHandle<u32>) {
    polled(name).await;
    here!("async_std_tasks::join");
    handle.await;
}

async fn accepts(listener: TcpListener) {
    polled("accepts").await;
    here!("async_std_tasks::accepts");
    let _ = listener.accept().await;
}

async fn incoming(listener: TcpListener) {
    polled("incoming").await;
    let mut streams = listener.incoming();
    here!("async_std_tasks::incoming");
    while streams.next().await.is_some() {}
}

async fn reads(mut stream: TcpStream) {
    polled("reads").await;
    let mut bytes = [0u8; 16];
    here!("async_std_tasks::reads");
    let _ = stream.read_exact(&mut bytes).await;
    let _ = stream.write(&bytes).await;
}

async fn writes(mut stream: UnixStream) {
    polled("writes").await;
    let bytes = vec![0u8; 1 << 22];
    here!("async_std_tasks::writes");
    let _ = stream.write_all(&bytes).await;
}

async fn receives(socket: UdpSocket) {
    polled("receives").await;
    let mut bytes = [0u8; 16];
    here!("async_std_tasks::receives");
    let _ = socket.recv_from(&mut bytes).await;
}

async fn root() {
    task::spawn_local(outer("local_outer"));
    let handle = task::spawn_local(compute("local_compute"));
    task::spawn_local(join("local_join", handle));
    here!("async_std_tasks::root");
    pending::<()>().await;
}

fn runtime() -> Runtime {
    Runtime {
        kind: "async_executor",
        flavor: "executor",
        workers: None,
        name: None,
        alive: None,
        queued: None,
    }
}

struct Situation {
    locks: [Lock; 4],
    values: &'static RwLock<u32>,
    sockets: [RawFd; 5],
}

fn spawn_locks(situation: &Situation) {
    let [mutex, first, second, beside] = situation.locks;
    task::spawn(hold(mutex));
    task::spawn(lock(mutex));
    task::spawn(cross("cross", first, second, "back"));
    task::spawn(cross("back", second, first, "cross"));
    task::spawn(read(situation.values));
    task::spawn(write(situation.values));
    task::spawn(meet(leak(Barrier::new(2))));
    task::spawn(notified(beside, leak(Condvar::new())));
}

fn spawn_others() {
    let (sender, receiver) = channel::bounded(1);
    leak(sender);
    task::spawn(receive("receive", receiver));
    let (sender, receiver) = channel::bounded(1);
    leak(receiver);
    task::spawn(send(sender));
    task::spawn(outer("outer"));
    task::spawn(nap());
    task::spawn(limit());
    task::spawn(either());
    task::spawn(both());
    let handle = Builder::new().name("computes".to_string()).spawn(compute("compute")).unwrap();
    task::spawn(join("join", handle));
}

fn spawn_sockets() -> [RawFd; 5] {
    let bind = || net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (listener, other) = (bind(), bind());
    let stream = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    leak(listener.accept().unwrap());
    let (out, end) = StdUnixStream::pair().unwrap();
    leak(end);
    let udp = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let fds = [
        listener.as_raw_fd(),
        other.as_raw_fd(),
        stream.as_raw_fd(),
        out.as_raw_fd(),
        udp.as_raw_fd(),
    ];
    task::spawn(accepts(listener.into()));
    task::spawn(incoming(other.into()));
    task::spawn(reads(stream.into()));
    task::spawn(writes(out.into()));
    task::spawn(receives(udp.into()));
    fds
}

fn graph(situation: &Situation) -> Graph {
    let [mutex, first, second, _] = situation.locks;
    let of = |name| Node::task(id(name));
    let mut graph = Graph::new();
    graph.waits(of("lock"), "mutex", address(mutex), &[of("hold")]);
    graph.waits(of("cross"), "mutex", address(second), &[of("back")]);
    graph.waits(of("back"), "mutex", address(first), &[of("cross")]);
    graph.deadlock(&[of("cross"), of("back")]);
    graph
}

/// What async-std knows of a task: one has a name.
fn described(name: &str, task: Task) -> Task {
    let tasks = TASKS.lock().unwrap();
    let number = tasks.iter().find(|task| task.0 == name).expect("it was not polled").2;
    let task = task.property("task_number", number);
    match name {
        "compute" => task.property("task_name", "computes"),
        _ => task.no_property("task_name"),
    }
}

fn idle(name: &str, chain: &[&'static str]) -> Task {
    described(name, Task::idle(id(name), chain))
}

fn tasks_at_locks(truth: Truth, situation: &Situation) -> Truth {
    let [mutex, first, second, _] = situation.locks;
    let for_lock = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    truth
        .task(idle("hold", &["async_std_tasks::hold"]))
        .task(idle("lock", &["async_std_tasks::lock"]).waits(for_lock(mutex)))
        .task(idle("cross", &["async_std_tasks::cross"]).waits(for_lock(second)))
        .task(idle("back", &["async_std_tasks::cross"]).waits(for_lock(first)))
        .task(idle("read", &["async_std_tasks::read"]))
        .task(idle("write", &["async_std_tasks::write"]).waits(Wait::new("rwlock_write")))
        .task(idle("meet", &["async_std_tasks::meet"]).waits(Wait::new("barrier")))
        .task(idle("notified", &["async_std_tasks::notified"]).waits(Wait::new("notify")))
        .holds([
            Hold::lock(id("hold"), "mutex", mutex).path("_guard"),
            Hold::lock(id("cross"), "mutex", first).path("guard"),
            Hold::lock(id("back"), "mutex", second).path("guard"),
            Hold::lock(id("read"), "rwlock_read", situation.values).path("_guard"),
            Hold::new(id("receive"), "receiver", "channel", 0),
            Hold::new(id("send"), "sender", "channel", 0),
        ])
        .task(idle("local_outer", &["async_std_tasks::outer", "async_std_tasks::inner"]).on(1))
        .task(idle("local_compute", &["async_std_tasks::compute"]).on(1))
        .task(idle("local_join", &["async_std_tasks::join"]).joins(id("local_compute")).on(1))
}

fn other_tasks(truth: Truth) -> Truth {
    let received = Wait::new("channel_recv").with("senders", 1);
    let two = |name: &str, tree| described(name, Task::idle_tree(id(name), tree));
    let left = || at("async_std_tasks::left");
    let right = || at("async_std_tasks::right");
    truth
        .task(idle("receive", &["async_std_tasks::receive"]).waits(received))
        .task(idle("send", &["async_std_tasks::send"]).waits(Wait::new("channel_send")))
        .task(idle("outer", &["async_std_tasks::outer", "async_std_tasks::inner"]))
        .task(idle("nap", &["async_std_tasks::nap"]).beside(Wait::new("sleep")))
        .task(idle("limit", &["async_std_tasks::limit", "async_std_tasks::left"]))
        .task(two("either", at("async_std_tasks::either").select(0, left()).select(1, right())))
        .task(two("both", at("async_std_tasks::both").join(0, left()).join(1, right())))
        .task(idle("compute", &["async_std_tasks::compute"]))
        .task(idle("join", &["async_std_tasks::join"]).joins(id("compute")))
}

fn tasks_at_sockets(truth: Truth, situation: &Situation) -> Truth {
    let [listener, other, stream, out, udp] = situation.sockets;
    let io = |name: &str, chain, direction: &'static str, fd: RawFd| {
        idle(name, chain).waits(Wait::new("io").with("direction", direction).with("fd", fd))
    };
    truth
        .task(io("accepts", &["async_std_tasks::accepts"], "readable", listener))
        .task(io("incoming", &["async_std_tasks::incoming"], "readable", other))
        .task(io("reads", &["async_std_tasks::reads"], "readable", stream))
        .task(io("writes", &["async_std_tasks::writes"], "writable", out))
        .task(io("receives", &["async_std_tasks::receives"], "readable", udp))
}

fn main() {
    let mutex = || -> Lock { leak(Mutex::new(0)) };
    let sockets = spawn_sockets();
    let situation = Situation {
        locks: [mutex(), mutex(), mutex(), mutex()],
        values: leak(RwLock::new(0)),
        sockets,
    };
    spawn_locks(&situation);
    spawn_others();
    thread::Builder::new().name("local".into()).spawn(|| task::block_on(root())).unwrap();
    while TASKS.lock().unwrap().len() < 25 {
        thread::sleep(Duration::from_millis(1));
    }
    let truth = Truth::new("async_std_tasks").runtime(runtime()).runtime(runtime());
    let truth = tasks_at_sockets(other_tasks(tasks_at_locks(truth, &situation)), &situation);
    truth.block_on(&["async_std_tasks::root"]).graph(graph(&situation)).publish();
    loop {
        thread::park();
    }
}
