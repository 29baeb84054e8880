//! smol 1: tasks on its global executor, which two threads of smol's run, and a future in `block_on`.

use std::future::{pending, poll_fn, Future};
use std::net;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use smol::channel::{self, Receiver, Sender};
use smol::future;
use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::lock::{Barrier, Mutex, RwLock, Semaphore};
use smol::net::{TcpListener, TcpStream};
use smol::{Async, Task as Handle, Timer};
use truth::graph::{address, Graph, Node};
use truth::tree::at;
use truth::{here, leak, Hold, Runtime, Task, Truth, Wait};

type Lock = &'static Mutex<u32>;
type Boxed = Pin<Box<dyn Future<Output = u32> + Send>>;

/// The tasks that were polled: their names, and where each is, which is the data of its waker.
static TASKS: StdMutex<Vec<(&str, u64)>> = StdMutex::new(Vec::new());
const COUNT: usize = 19;

async fn polled(name: &'static str) {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    TASKS.lock().unwrap().push((name, id));
}

fn id(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

async fn hold(mutex: Lock) {
    let _guard = mutex.lock().await;
    polled("hold").await;
    here!("smol_1_tasks::hold");
    pending::<()>().await;
}

async fn lock(mutex: Lock) {
    polled("lock").await;
    while id("hold").is_none() {
        future::yield_now().await;
    }
    here!("smol_1_tasks::lock");
    *mutex.lock().await += 1;
}

async fn cross(name: &'static str, own: Lock, other: Lock, partner: &'static str) {
    let guard = own.lock().await;
    polled(name).await;
    while id(partner).is_none() {
        future::yield_now().await;
    }
    here!("smol_1_tasks::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn read(values: &'static RwLock<u32>) {
    let _guard = values.read().await;
    polled("read").await;
    here!("smol_1_tasks::read");
    pending::<()>().await;
}

async fn write(values: &'static RwLock<u32>) {
    polled("write").await;
    while id("read").is_none() {
        future::yield_now().await;
    }
    here!("smol_1_tasks::write");
    *values.write().await += 1;
}

async fn meet(barrier: &'static Barrier) {
    polled("meet").await;
    here!("smol_1_tasks::meet");
    barrier.wait().await;
}

async fn acquire(permits: &'static Semaphore) {
    polled("acquire").await;
    here!("smol_1_tasks::acquire");
    permits.acquire().await;
}

async fn receive(receiver: Receiver<u32>) {
    polled("receive").await;
    here!("smol_1_tasks::receive");
    let _ = receiver.recv().await;
}

async fn send(sender: Sender<u32>) {
    let _ = sender.send(1).await;
    polled("send").await;
    here!("smol_1_tasks::send");
    let _ = sender.send(2).await;
}

async fn inner(depth: u32) -> u32 {
    here!("smol_1_tasks::inner");
    pending::<()>().await;
    depth
}

async fn outer() {
    polled("outer").await;
    let boxed: Boxed = Box::pin(inner(2));
    here!("smol_1_tasks::outer");
    boxed.await;
}

async fn nap() {
    polled("nap").await;
    here!("smol_1_tasks::nap");
    Timer::after(truth::FOREVER).await;
}

async fn left() {
    here!("smol_1_tasks::left");
    pending::<()>().await;
}

async fn right() {
    here!("smol_1_tasks::right");
    Timer::after(truth::FOREVER).await;
}

async fn either() {
    polled("either").await;
    here!("smol_1_tasks::either");
    future::or(left(), right()).await;
}

async fn both() {
    polled("both").await;
    here!("smol_1_tasks::both");
    future::zip(left(), right()).await;
}

async fn compute() -> u32 {
    polled("compute").await;
    here!("smol_1_tasks::compute");
    pending().await
}

async fn join(handle: Handle<u32>) {
    polled("join").await;
    here!("smol_1_tasks::join");
    handle.await;
}

async fn accepts(listener: TcpListener) {
    polled("accepts").await;
    here!("smol_1_tasks::accepts");
    let _ = listener.accept().await;
}

async fn reads(mut stream: TcpStream) {
    polled("reads").await;
    let mut bytes = [0u8; 16];
    here!("smol_1_tasks::reads");
    let _ = stream.read_exact(&mut bytes).await;
    let _ = stream.write(&bytes).await;
}

async fn receives(socket: Async<net::UdpSocket>) {
    polled("receives").await;
    let mut bytes = [0u8; 16];
    here!("smol_1_tasks::receives");
    let _ = socket.recv_from(&mut bytes).await;
}

async fn root() {
    here!("smol_1_tasks::root");
    pending::<()>().await;
}

struct Situation {
    locks: [Lock; 3],
    values: &'static RwLock<u32>,
    sockets: [RawFd; 3],
}

fn spawn_locks(situation: &Situation) {
    let [mutex, first, second] = situation.locks;
    smol::spawn(hold(mutex)).detach();
    smol::spawn(lock(mutex)).detach();
    smol::spawn(cross("cross", first, second, "back")).detach();
    smol::spawn(cross("back", second, first, "cross")).detach();
    smol::spawn(read(situation.values)).detach();
    smol::spawn(write(situation.values)).detach();
    smol::spawn(meet(leak(Barrier::new(2)))).detach();
    smol::spawn(acquire(leak(Semaphore::new(0)))).detach();
}

fn spawn_others() {
    let (sender, receiver) = channel::bounded(1);
    leak(sender);
    smol::spawn(receive(receiver)).detach();
    let (sender, receiver) = channel::bounded(1);
    leak(receiver);
    smol::spawn(send(sender)).detach();
    smol::spawn(outer()).detach();
    smol::spawn(nap()).detach();
    smol::spawn(either()).detach();
    smol::spawn(both()).detach();
    let handle = smol::spawn(compute());
    smol::spawn(join(handle)).detach();
}

fn spawn_sockets() -> [RawFd; 3] {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    leak(listener.accept().unwrap());
    let udp = net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let fds = [listener.as_raw_fd(), stream.as_raw_fd(), udp.as_raw_fd()];
    smol::spawn(accepts(Async::new(listener).unwrap().into())).detach();
    smol::spawn(reads(Async::new(stream).unwrap().into())).detach();
    smol::spawn(receives(Async::new(udp).unwrap())).detach();
    fds
}

fn graph(situation: &Situation) -> Graph {
    let [mutex, first, second] = situation.locks;
    let of = |name| Node::task(id(name));
    let mut graph = Graph::new();
    graph.waits(of("lock"), "mutex", address(mutex), &[of("hold")]);
    graph.waits(of("cross"), "mutex", address(second), &[of("back")]);
    graph.waits(of("back"), "mutex", address(first), &[of("cross")]);
    graph.deadlock(&[of("cross"), of("back")]);
    graph
}

fn idle(name: &str, chain: &[&'static str]) -> Task {
    Task::idle(id(name), chain)
}

fn tasks_at_locks(truth: Truth, situation: &Situation) -> Truth {
    let [mutex, first, second] = situation.locks;
    let for_lock = |lock: Lock| Wait::new("mutex").with("object", lock as *const Mutex<u32>);
    truth
        .task(idle("hold", &["smol_1_tasks::hold"]))
        .task(idle("lock", &["smol_1_tasks::lock"]).waits(for_lock(mutex)))
        .task(idle("cross", &["smol_1_tasks::cross"]).waits(for_lock(second)))
        .task(idle("back", &["smol_1_tasks::cross"]).waits(for_lock(first)))
        .task(idle("read", &["smol_1_tasks::read"]))
        .task(idle("write", &["smol_1_tasks::write"]).waits(Wait::new("rwlock_write")))
        .task(idle("meet", &["smol_1_tasks::meet"]).waits(Wait::new("barrier")))
        .task(idle("acquire", &["smol_1_tasks::acquire"]).waits(Wait::new("semaphore")))
        .holds([
            Hold::lock(id("hold"), "mutex", mutex).path("_guard"),
            Hold::lock(id("cross"), "mutex", first).path("guard"),
            Hold::lock(id("back"), "mutex", second).path("guard"),
            Hold::lock(id("read"), "rwlock_read", situation.values).path("_guard"),
            Hold::new(id("receive"), "receiver", "channel", 0),
            Hold::new(id("send"), "sender", "channel", 0),
        ])
}

fn other_tasks(truth: Truth) -> Truth {
    let received = Wait::new("channel_recv").with("senders", 1);
    let two = |name: &str, tree| Task::idle_tree(id(name), tree);
    let left = || at("smol_1_tasks::left");
    let right = || at("smol_1_tasks::right");
    truth
        .task(idle("receive", &["smol_1_tasks::receive"]).waits(received))
        .task(idle("send", &["smol_1_tasks::send"]).waits(Wait::new("channel_send")))
        .task(idle("outer", &["smol_1_tasks::outer", "smol_1_tasks::inner"]))
        .task(idle("nap", &["smol_1_tasks::nap"]).sleeps())
        .task(two("either", at("smol_1_tasks::either").select(0, left()).select(1, right())))
        .task(two("both", at("smol_1_tasks::both").join(0, left()).join(1, right())))
        .task(idle("compute", &["smol_1_tasks::compute"]))
        .task(idle("join", &["smol_1_tasks::join"]).joins(id("compute")))
}

fn tasks_at_sockets(truth: Truth, situation: &Situation) -> Truth {
    let [listener, stream, udp] = situation.sockets;
    let io = |name: &str, chain, fd: RawFd| {
        idle(name, chain).waits(Wait::new("io").with("direction", "readable").with("fd", fd))
    };
    truth
        .task(io("accepts", &["smol_1_tasks::accepts"], listener))
        .task(io("reads", &["smol_1_tasks::reads"], stream))
        .task(io("receives", &["smol_1_tasks::receives"], udp))
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

fn main() {
    std::env::set_var("SMOL_THREADS", "2");
    let mutex = || -> Lock { leak(Mutex::new(0)) };
    let sockets = spawn_sockets();
    let situation =
        Situation { locks: [mutex(), mutex(), mutex()], values: leak(RwLock::new(0)), sockets };
    spawn_locks(&situation);
    spawn_others();
    thread::Builder::new().name("root".into()).spawn(|| smol::block_on(root())).unwrap();
    while TASKS.lock().unwrap().len() < COUNT {
        thread::sleep(Duration::from_millis(1));
    }
    let truth = Truth::new("smol_1_tasks").runtime(runtime());
    let truth = tasks_at_sockets(other_tasks(tasks_at_locks(truth, &situation)), &situation);
    truth.block_on(&["smol_1_tasks::root"]).graph(graph(&situation)).publish();
    loop {
        thread::park();
    }
}
