//! Tasks of three runtimes of compio, each on a thread of its own: of one all tasks wait, one has a
//! task that computes, the third is stuck in a task that has just spawned another.

use std::future::{pending, poll_fn, Future};
use std::hint;
use std::io;
use std::mem;
use std::net::{Ipv4Addr, SocketAddr, TcpStream as StdStream};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use async_channel::Receiver;
use async_lock::Mutex;
use compio::runtime::{spawn, spawn_blocking, JoinHandle, Runtime as Compio};
use compio_fs::File;
use compio_io::{AsyncRead, AsyncReadAt, AsyncWrite};
use compio_net::{TcpListener, TcpStream, UdpSocket};
use futures_lite::future;
use futures_util::stream::{FuturesUnordered, StreamExt};
use truth::graph::{address, Graph, Node};
use truth::tree::at;
use truth::{busy, here, leak, Blocked, Hold, Runtime, Task, Truth, Wait};

type Lock = &'static Mutex<u32>;

/// The tasks that were polled: their names, and where each is, which is the data of its waker.
static TASKS: StdMutex<Vec<(&str, u64)>> = StdMutex::new(Vec::new());
/// The descriptors at which they wait.
static FDS: StdMutex<Vec<(&str, i32)>> = StdMutex::new(Vec::new());
static TAKEN: StdMutex<()> = StdMutex::new(());

/// A runtime that keeps no list of its tasks frees one to which no waker leads.
fn keep(waker: &Waker) {
    if cfg!(no_task_list) {
        mem::forget(waker.clone());
    }
}

async fn polled(name: &'static str) {
    let id = poll_fn(|cx| {
        keep(cx.waker());
        Poll::Ready(cx.waker().data() as u64)
    })
    .await;
    TASKS.lock().unwrap().push((name, id));
}

fn task(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

fn note_fd(name: &'static str, fd: &impl AsRawFd) {
    FDS.lock().unwrap().push((name, fd.as_raw_fd()));
}

fn fd(name: &str) -> i32 {
    let fds = FDS.lock().unwrap();
    fds.iter().find(|fd| fd.0 == name).expect("a descriptor").1
}

async fn hold(mutex: Lock) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("compio_tasks::hold");
    pending::<()>().await;
}

async fn lock(mutex: Lock) {
    polled("lock").await;
    while task("hold").is_none() {
        future::yield_now().await;
    }
    here!("compio_tasks::lock");
    *mutex.lock().await += 1;
}

async fn cross(name: &'static str, own: Lock, other: Lock, partner: &'static str) {
    let guard = own.lock().await;
    polled(name).await;
    while task(partner).is_none() {
        future::yield_now().await;
    }
    here!("compio_tasks::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn receive(name: &'static str, receiver: Receiver<u32>) {
    polled(name).await;
    here!("compio_tasks::receive");
    let _ = receiver.recv().await;
}

async fn inner(depth: u32) -> u32 {
    here!("compio_tasks::inner");
    pending::<()>().await;
    depth
}

async fn outer(name: &'static str) {
    polled(name).await;
    let boxed: Pin<Box<dyn Future<Output = u32>>> = Box::pin(inner(2));
    here!("compio_tasks::outer");
    boxed.await;
}

async fn nap() {
    polled("nap").await;
    here!("compio_tasks::nap");
    compio::time::sleep(truth::FOREVER).await;
}

async fn limited() {
    polled("limited").await;
    here!("compio_tasks::limited");
    let _ = compio::time::timeout(truth::FOREVER, inner(1)).await;
}

async fn left() {
    here!("compio_tasks::left");
    pending::<()>().await;
}

async fn right() {
    here!("compio_tasks::right");
    compio::time::sleep(truth::FOREVER).await;
}

async fn either() {
    polled("either").await;
    here!("compio_tasks::either");
    future::or(left(), right()).await;
}

async fn both() {
    polled("both").await;
    here!("compio_tasks::both");
    future::zip(left(), right()).await;
}

async fn set() {
    polled("set").await;
    let mut children: FuturesUnordered<_> = (0..3).map(|_| left()).collect();
    here!("compio_tasks::set");
    children.next().await;
}

async fn compute(name: &'static str) -> u32 {
    polled(name).await;
    here!("compio_tasks::compute");
    pending().await
}

async fn join(name: &'static str, handle: JoinHandle<u32>) {
    polled(name).await;
    here!("compio_tasks::join");
    let _ = handle.await;
}

fn taken() {
    let _guard = TAKEN.lock();
}

async fn threaded() {
    polled("threaded").await;
    let job = spawn_blocking(taken);
    here!("compio_tasks::threaded");
    let _ = job.await;
}

/// So large that runtimes box it.
async fn large() {
    let bytes = [1u8; 4096];
    polled("large").await;
    here!("compio_tasks::large");
    pending::<()>().await;
    hint::black_box(&bytes);
}

async fn accept(listener: TcpListener) {
    note_fd("accept", &listener);
    polled("accept").await;
    here!("compio_tasks::accept");
    let _ = listener.accept().await;
}

async fn read(mut stream: TcpStream) {
    note_fd("read", &stream);
    polled("read").await;
    here!("compio_tasks::read");
    let _ = stream.read(Vec::with_capacity(64)).await;
}

/// The other end reads nothing.
async fn write(mut stream: TcpStream) {
    note_fd("write", &stream);
    polled("write").await;
    loop {
        let bytes = vec![0u8; 1 << 20];
        here!("compio_tasks::write");
        let _ = stream.write(bytes).await;
    }
}

async fn datagram(socket: UdpSocket) {
    note_fd("datagram", &socket);
    polled("datagram").await;
    here!("compio_tasks::datagram");
    let _ = socket.recv_from(Vec::with_capacity(64)).await;
}

/// A pipe that nobody writes, read as if it were a file.
async fn read_at(file: File) {
    note_fd("read_at", &file);
    polled("read_at").await;
    here!("compio_tasks::read_at");
    let _ = file.read_at(Vec::with_capacity(64), 0).await;
}

async fn burn() {
    polled("burn").await;
    busy();
    loop {
        hint::spin_loop();
    }
}

async fn fresh() {}

async fn stick() {
    polled("stick").await;
    spawn(fresh()).detach();
    here!("compio_tasks::stick");
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

async fn spawn_locks([mutex, first, second]: [Lock; 3]) {
    spawn(hold(mutex)).detach();
    spawn(lock(mutex)).detach();
    spawn(cross("cross", first, second, "back")).detach();
    spawn(cross("back", second, first, "cross")).detach();
}

async fn spawn_plain() {
    spawn(receive("receive", receiver())).detach();
    spawn(outer("outer")).detach();
    spawn(nap()).detach();
    spawn(limited()).detach();
    spawn(either()).detach();
    spawn(both()).detach();
    spawn(set()).detach();
    let handle = spawn(compute("compute"));
    spawn(join("join", handle)).detach();
    spawn(threaded()).detach();
    spawn(large()).detach();
}

async fn spawn_sockets() -> io::Result<()> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = TcpListener::bind(any).await?;
    let addr = listener.local_addr()?;
    leak(StdStream::connect(addr)?);
    let (reads, _) = listener.accept().await?;
    leak(StdStream::connect(addr)?);
    let (writes, _) = listener.accept().await?;
    let (receiver, sender) = io::pipe()?;
    leak(sender);
    // SAFETY: the descriptor is owned by nobody else.
    let file = unsafe { File::from_raw_fd(receiver.into_raw_fd()) };
    spawn(read(reads)).detach();
    spawn(write(writes)).detach();
    spawn(accept(listener)).detach();
    spawn(datagram(UdpSocket::bind(any).await?)).detach();
    spawn(read_at(file)).detach();
    Ok(())
}

async fn root(locks: [Lock; 3]) {
    polled("root").await;
    spawn_locks(locks).await;
    spawn_plain().await;
    spawn_sockets().await.unwrap();
    here!("compio_tasks::root");
    pending::<()>().await;
}

async fn busy_root() {
    polled("busy_root").await;
    spawn(outer("busy_outer")).detach();
    while task("busy_outer").is_none() {
        future::yield_now().await;
    }
    spawn(burn()).detach();
    here!("compio_tasks::busy_root");
    pending::<()>().await;
}

async fn stuck_root() {
    polled("stuck_root").await;
    spawn(stick()).detach();
    // Else an optimised build does not store at which await it is.
    let stored = 0u8;
    hint::black_box(&stored);
    here!("compio_tasks::stuck_root");
    pending::<()>().await;
    hint::black_box(&stored);
}

fn runtime() -> Runtime {
    Runtime {
        kind: "compio",
        flavor: "compio",
        workers: None,
        name: None,
        alive: None,
        queued: None,
    }
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

/// Until compio 0.16 block_on spawns its future.
fn with_roots(mut truth: Truth) -> Truth {
    let roots = [
        ("root", "compio_tasks::root"),
        ("busy_root", "compio_tasks::busy_root"),
        ("stuck_root", "compio_tasks::stuck_root"),
    ];
    for (runtime, (name, function)) in roots.into_iter().enumerate() {
        truth = if cfg!(root_is_task) {
            truth.task(Task::idle(task(name), &[function]).on(runtime))
        } else {
            truth.block_on(&[function])
        };
    }
    truth
}

fn truth(locks: [Lock; 3]) -> Truth {
    let [mutex, first, second] = locks;
    let for_lock = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    let idle = |name: &str, chain: &[&'static str]| Task::idle(task(name), chain);
    let io = |name: &str, chain: &'static str, operation: &str, direction: &str| {
        let wait = Wait::new("io").with("resource", operation).with("direction", direction);
        idle(name, &[chain]).waits(wait.with("fd", fd(name)))
    };
    let received = Wait::new("channel_recv").with("senders", 1);
    let two = |name: &str, tree| Task::idle_tree(task(name), tree);
    let left = || at("compio_tasks::left");
    let right = || at("compio_tasks::right");
    with_roots(Truth::new("compio_tasks"))
        .runtime(runtime())
        .runtime(runtime())
        .runtime(runtime())
        .task(idle("hold", &["compio_tasks::hold"]))
        .task(idle("lock", &["compio_tasks::lock"]).waits(for_lock(mutex)))
        .task(idle("cross", &["compio_tasks::cross"]).waits(for_lock(second)))
        .task(idle("back", &["compio_tasks::cross"]).waits(for_lock(first)))
        .task(idle("receive", &["compio_tasks::receive"]).waits(received))
        .task(idle("outer", &["compio_tasks::outer", "compio_tasks::inner"]))
        .task(idle("nap", &["compio_tasks::nap"]).sleeps())
        .task(idle("limited", &["compio_tasks::limited", "compio_tasks::inner"]))
        .task(two("either", at("compio_tasks::either").select(0, left()).select(1, right())))
        .task(two("both", at("compio_tasks::both").join(0, left()).join(1, right())))
        .task(two("set", at("compio_tasks::set").set(left().times(3))))
        .task(idle("threaded", &["compio_tasks::threaded"]))
        .task(Task::idle(None, &[]).waits(Wait::new("blocking").with("resource", "Asyncify")))
        .task(idle("compute", &["compio_tasks::compute"]))
        .task(idle("join", &["compio_tasks::join"]).joins(task("compute")))
        .task(idle("large", &["compio_tasks::large"]))
        .task(io("accept", "compio_tasks::accept", "Accept", "readable"))
        .task(io("read", "compio_tasks::read", "Recv", "readable"))
        .task(io("write", "compio_tasks::write", "Send", "writable"))
        .task(io("datagram", "compio_tasks::datagram", "RecvFrom", "readable"))
        .task(io("read_at", "compio_tasks::read_at", "ReadAt", "readable"))
        .task(idle("busy_outer", &["compio_tasks::outer", "compio_tasks::inner"]).on(1))
        .task(Task::running(task("burn"), &["compio_tasks::burn"]).on(1))
        .task(Task::blocked(task("stick"), "compio_tasks::stick").on(2))
        .task(Task::unpolled(None, "compio_tasks::fresh").on(2))
        .blocked(vec![
            Blocked::new("std_mutex", task("stick"), None),
            Blocked::new("compute", task("burn"), None),
        ])
        .holds([
            Hold::lock(task("hold"), "mutex", mutex).path("_guard"),
            Hold::lock(task("cross"), "mutex", first).path("guard"),
            Hold::lock(task("back"), "mutex", second).path("guard"),
            Hold::new(task("receive"), "receiver", "channel", 0),
        ])
        .graph(graph(locks))
}

fn run<F: Future<Output = ()>>(name: &str, root: impl FnOnce() -> F + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_string());
    thread.spawn(move || Compio::new().unwrap().block_on(root())).unwrap();
}

fn main() {
    leak(TAKEN.lock());
    let locks = [mutex(), mutex(), mutex()];
    run("waits", move || root(locks));
    run("busy", busy_root);
    run("stuck", stuck_root);
    let tasks = || TASKS.lock().unwrap().len();
    while tasks() < 26 {
        thread::sleep(Duration::from_millis(1));
    }
    truth(locks).publish();
    loop {
        thread::park();
    }
}
