//! tokio-uring: tasks at operations of io_uring in flight, on two runtimes, and a lock between two of
//! them. A LocalRuntime of tokio is beside them.

use std::future::{pending, poll_fn, Future};
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;

use tokio::sync::Mutex;
use tokio::time::sleep;
use tokio_uring::buf::BoundedBuf;
use tokio_uring::fs::File;
use tokio_uring::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use truth::graph::{address, Graph, Node};
use truth::{here, leak, Task, Truth, Wait, FOREVER};

type Lock = &'static Mutex<u32>;

/// What the threads say of themselves.
enum Part {
    Runtime(truth::Runtime),
    /// The name of a task, its id, and the descriptor at which it waits, if it is known.
    Task(&'static str, Option<u64>, Option<RawFd>),
}

#[derive(Clone)]
struct Reports(mpsc::Sender<Part>);

impl Reports {
    fn say(&self, part: Part) {
        self.0.send(part).expect("nobody hears");
    }

    /// The last word of a task.
    fn task(self, name: &'static str, fd: Option<RawFd>) {
        self.say(Part::Task(name, tokio::task::id().to_string().parse().ok(), fd));
    }
}

async fn accept(reports: Reports, listener: StdListener) {
    let fd = listener.as_raw_fd();
    let listener = TcpListener::from_std(listener);
    reports.task("accept", Some(fd));
    here!("uring_tasks::accept");
    let _ = listener.accept().await;
}

async fn read(reports: Reports, stream: StdStream) {
    let fd = stream.as_raw_fd();
    let stream = TcpStream::from_std(stream);
    reports.task("read", Some(fd));
    here!("uring_tasks::read");
    let _ = stream.read(vec![0u8; 64]).await;
}

/// The peer never reads.
async fn write(reports: Reports, stream: StdStream) {
    let fd = stream.as_raw_fd();
    let stream = TcpStream::from_std(stream);
    reports.task("write", Some(fd));
    here!("uring_tasks::write");
    let _ = stream.write_all(vec![1u8; 16 << 20]).await;
}

/// A socket of which no byte is read is full.
async fn write_once(reports: Reports) {
    let (mut near, far) = StdUnixStream::pair().unwrap();
    leak(far);
    near.set_nonblocking(true).unwrap();
    while near.write(&[1u8; 4096]).is_ok() {}
    near.set_nonblocking(false).unwrap();
    let fd = near.as_raw_fd();
    let stream = UnixStream::from_std(near);
    reports.task("write_once", Some(fd));
    here!("uring_tasks::write_once");
    let _ = stream.write(vec![1u8; 4096]).submit().await;
}

async fn receive(reports: Reports) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let fd = socket.as_raw_fd();
    let socket = UdpSocket::from_std(socket);
    reports.task("receive", Some(fd));
    here!("uring_tasks::receive");
    let _ = socket.recv_from(vec![0u8; 64]).await;
}

async fn read_unix(reports: Reports) {
    let (near, far) = StdUnixStream::pair().unwrap();
    leak(far);
    let fd = near.as_raw_fd();
    let stream = UnixStream::from_std(near);
    reports.task("read_unix", Some(fd));
    here!("uring_tasks::read_unix");
    let _ = stream.read(vec![0u8; 8]).await;
}

/// The writing end of the pipe stays open. The position is the one that the pipe has.
async fn read_file(reports: Reports) {
    let (reading, writing) = std::io::pipe().unwrap();
    leak(writing);
    let fd = reading.as_raw_fd();
    let file = File::from_std(std::fs::File::from(std::os::fd::OwnedFd::from(reading)));
    reports.task("read_file", Some(fd));
    here!("uring_tasks::read_file");
    let _ = file.readv_at(vec![Vec::with_capacity(8), Vec::with_capacity(8)], u64::MAX).await;
}

/// An operation that was in flight before it is awaited, with a part of a buffer.
async fn boxed(reports: Reports, stream: StdStream) {
    let fd = stream.as_raw_fd();
    let stream = TcpStream::from_std(stream);
    let mut first = Box::pin(stream.read(vec![0u8; 4].slice(..2)));
    let _ = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_ready())).await;
    reports.task("boxed", Some(fd));
    here!("uring_tasks::boxed");
    let _ = first.await;
}

async fn nap(reports: Reports) {
    reports.task("nap", None);
    here!("uring_tasks::nap");
    sleep(FOREVER).await;
}

async fn hold(reports: Reports, lock: Lock, held: mpsc::Sender<()>) {
    let guard = lock.lock().await;
    held.send(()).unwrap();
    reports.task("hold", None);
    here!("uring_tasks::hold");
    pending::<()>().await;
    drop(guard);
}

async fn lock(reports: Reports, lock: Lock) {
    reports.task("lock", None);
    here!("uring_tasks::lock");
    *lock.lock().await += 1;
}

async fn local(reports: Reports) {
    reports.task("local", None);
    here!("uring_tasks::local");
    sleep(FOREVER).await;
}

/// A pair of connected streams.
fn pair() -> (StdStream, StdStream) {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let stream = StdStream::connect(address).unwrap();
    (stream, listener.accept().unwrap().0)
}

/// The end of a pair whose other one stays open and silent.
fn one() -> StdStream {
    let (near, far) = pair();
    leak(far);
    near
}

fn spawn(future: impl Future<Output = ()> + 'static) {
    drop(tokio_uring::spawn(future));
}

/// The first runtime: all operations.
async fn first(reports: Reports, at: Lock) {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    let (held, hear) = mpsc::channel();
    spawn(accept(reports.clone(), listener));
    spawn(read(reports.clone(), one()));
    spawn(write(reports.clone(), one()));
    spawn(write_once(reports.clone()));
    spawn(receive(reports.clone()));
    spawn(read_unix(reports.clone()));
    spawn(read_file(reports.clone()));
    spawn(boxed(reports.clone(), one()));
    spawn(nap(reports.clone()));
    spawn(hold(reports.clone(), at, held));
    tokio::task::yield_now().await;
    hear.recv().unwrap();
    reports.say(Part::Runtime(truth_tokio::current("current_thread", 1)));
    drop(reports);
    here!("uring_tasks::first");
    pending::<()>().await;
}

/// A lock of the first is wanted here; the future of this runtime itself is at an operation.
async fn second(reports: Reports, at: Lock) {
    let stream = TcpStream::from_std(one());
    spawn(lock(reports.clone(), at));
    reports.say(Part::Runtime(truth_tokio::current("current_thread", 1)));
    drop(reports);
    here!("uring_tasks::second");
    let _ = stream.read(vec![0u8; 16]).await;
}

async fn third(reports: Reports) {
    drop(tokio::task::spawn_local(local(reports.clone())));
    reports.say(Part::Runtime(truth_tokio::current("local_runtime", 1)));
    drop(reports);
    here!("uring_tasks::third");
    pending::<()>().await;
}

/// What is known of the tasks, by their names.
struct Known(Vec<(&'static str, Option<u64>, Option<RawFd>)>);

impl Known {
    fn id(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|task| task.0 == name).and_then(|task| task.1)
    }

    fn idle(&self, name: &str, chain: &'static str) -> Task {
        Task::idle(self.id(name), &[chain]).local()
    }

    fn io(&self, name: &str, chain: &'static str, operation: &str, direction: &str) -> Task {
        let wait = Wait::new("io").with("resource", operation).with("direction", direction);
        let fd = self.0.iter().find(|task| task.0 == name).and_then(|task| task.2);
        self.idle(name, chain).waits(fd.map_or(wait.clone(), |fd| wait.with("fd", fd)))
    }
}

fn tasks(known: &Known, at: Lock) -> Vec<Task> {
    let lock = Wait::new("mutex").with("object", at as *const Mutex<u32>);
    vec![
        known.io("accept", "uring_tasks::accept", "Accept", "readable"),
        known.io("read", "uring_tasks::read", "Read", "readable"),
        known.io("write", "uring_tasks::write", "Write", "writable"),
        known.io("write_once", "uring_tasks::write_once", "Write", "writable"),
        known.io("receive", "uring_tasks::receive", "RecvFrom", "readable"),
        known.io("read_unix", "uring_tasks::read_unix", "Read", "readable"),
        known.io("read_file", "uring_tasks::read_file", "Readv", "readable"),
        known.io("boxed", "uring_tasks::boxed", "Read", "readable"),
        known.idle("nap", "uring_tasks::nap").sleeps(),
        known.idle("hold", "uring_tasks::hold").waits(Wait::new("pending")),
        known.idle("lock", "uring_tasks::lock").waits(lock),
        Task::idle(known.id("local"), &["uring_tasks::local"]).sleeps().on(2),
        driver(),
        driver(),
    ]
}

/// The task of each runtime that waits for its io_uring.
fn driver() -> Task {
    let wait = Wait::new("io").with("resource", "AsyncFd").with("direction", "readable");
    Task::idle(None, &[]).local().waits(wait)
}

fn publish(parts: Vec<Part>, at: Lock) {
    let mut known = Known(Vec::new());
    let mut truth = Truth::new("uring_tasks");
    for part in parts {
        match part {
            Part::Task(name, id, fd) => known.0.push((name, id, fd)),
            Part::Runtime(runtime) => truth = truth.runtime(runtime),
        }
    }
    let of = |name| Node::task(known.id(name));
    let mut graph = Graph::new();
    graph.waits(of("lock"), "mutex", address(at), &[of("hold")]);
    let read = Wait::new("io").with("resource", "Read").with("direction", "readable");
    truth
        .block_on(&["uring_tasks::first"])
        .block_on_waits(&["uring_tasks::second"], read)
        .block_on(&["uring_tasks::third"])
        .tasks(tasks(&known, at))
        .graph(graph)
        .publish();
}

fn main() {
    let (sender, hear) = mpsc::channel();
    let reports = Reports(sender);
    let at: Lock = leak(Mutex::new(1));
    let copies = [0; 3].map(|_| reports.clone());
    let [one, two, three] = copies;
    drop(reports);
    thread::spawn(move || tokio_uring::start(first(one, at)));
    // One after the other: runtimes are known by their order.
    let mut parts = Vec::new();
    until_runtime(&hear, &mut parts);
    thread::spawn(move || tokio_uring::start(second(two, at)));
    until_runtime(&hear, &mut parts);
    thread::spawn(move || truth_tokio::block_on_local(third(three)));
    parts.extend(hear.iter());
    publish(parts, at);
    loop {
        thread::park();
    }
}

/// Hears until a runtime has described itself.
fn until_runtime(hear: &mpsc::Receiver<Part>, parts: &mut Vec<Part>) {
    loop {
        let part = hear.recv().expect("a runtime has ended");
        let last = matches!(part, Part::Runtime(_));
        parts.push(part);
        if last {
            return;
        }
    }
}
