//! Tasks of smol's executor that wait in the futures of its crates: at descriptors, timers, locks, channels,
//! events, threads of its blocking pool, pipes to these, and processes.

use std::future::{pending, poll_fn, Future};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use event_listener::Event;
use smol::channel;
use smol::io::{self, AsyncReadExt as _};
use smol::lock::{Barrier, OnceCell, RwLock, Semaphore};
use smol::process::{Command, Stdio};
use smol::stream::StreamExt as _;
use smol::{Async, Timer, Unblock};
use truth::{busy, here, leak, Runtime, Task, Truth, Wait};

/// What a task waits for, and what else it has that it does not poll now.
type Waits = (Wait, Option<Wait>);

/// What each task waits for, and where it is, which is the data of its waker.
static TASKS: StdMutex<Vec<(Waits, u64)>> = StdMutex::new(Vec::new());

async fn watched<F: Future>(waits: Waits, future: F) {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    TASKS.lock().unwrap().push((waits, id));
    here!("smol_waits::watched");
    future.await;
}

struct Spawner {
    count: usize,
}

impl Spawner {
    fn spawn<F: Future + Send + 'static>(&mut self, wait: Wait, future: F) {
        smol::spawn(watched((wait, None), future)).detach();
        self.count += 1;
    }

    /// A task that reads from the pipe to a thread; it has the handle of what that thread runs.
    fn spawn_reader<F: Future + Send + 'static>(&mut self, future: F) {
        let handle = Wait::new("join").with("armed", "no").with("task_state", "running");
        let pipe = Wait::new("duplex").with("resource", "pipe").with("direction", "readable");
        smol::spawn(watched((handle, Some(pipe.with("buffered", 0))), future)).detach();
        self.count += 1;
    }
}

fn mutable<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

/// A socket that nothing is sent to.
fn quiet() -> UnixStream {
    let (stream, other) = UnixStream::pair().unwrap();
    leak(other);
    stream
}

/// A socket that nobody reads from.
fn full() -> UnixStream {
    let stream = quiet();
    stream.set_nonblocking(true).unwrap();
    while (&stream).write(&[0; 4096]).is_ok() {}
    stream
}

/// It blocks the thread that reads it.
struct Quiet;

impl Read for Quiet {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        block()
    }
}

fn block() -> ! {
    busy();
    loop {
        thread::sleep(truth::FOREVER);
    }
}

fn io(direction: &'static str, fd: RawFd) -> Wait {
    Wait::new("io").with("direction", direction).with("fd", fd)
}

fn sockets(tasks: &mut Spawner) {
    let stream: &Async<UnixStream> = leak(Async::new(quiet()).unwrap());
    tasks.spawn(io("readable", stream.as_raw_fd()), stream.readable());
    let stream: &Async<UnixStream> = leak(Async::new(full()).unwrap());
    tasks.spawn(io("writable", stream.as_raw_fd()), stream.writable());
    let stream = Arc::new(Async::new(quiet()).unwrap());
    tasks.spawn(io("readable", stream.as_raw_fd()), stream.readable_owned());
    let stream = Async::new(quiet()).unwrap();
    let fd = stream.as_raw_fd();
    let (reader, writer) = io::split(smol::net::unix::UnixStream::from(stream));
    leak(writer);
    tasks.spawn(io("readable", fd), mutable(reader).read_exact(mutable([0; 16])));
}

fn timers(tasks: &mut Spawner) {
    tasks.spawn(Wait::new("sleep").with("registered", true), Timer::after(truth::FOREVER));
    tasks.spawn(Wait::new("sleep").with("registered", false), Timer::never());
    let interval = mutable(Timer::interval(truth::FOREVER));
    tasks.spawn(Wait::new("sleep").with("registered", true), interval.next());
}

fn locks(tasks: &mut Spawner) {
    let lock: &RwLock<u32> = leak(RwLock::new(0));
    leak(lock.try_write());
    tasks.spawn(Wait::new("rwlock_read").with("writer", true), lock.read());
    let permits: &Semaphore = leak(Semaphore::new(0));
    tasks.spawn(Wait::new("semaphore"), permits.acquire());
    let barrier: &Barrier = leak(Barrier::new(2));
    tasks.spawn(Wait::new("barrier"), barrier.wait());
    let cell: &OnceCell<u32> = leak(OnceCell::new());
    tasks.spawn(Wait::new("pending"), cell.get_or_init(pending));
    tasks.spawn(Wait::new("once_cell"), cell.wait());
    let event: &Event = leak(Event::new());
    tasks.spawn(Wait::new("notify"), event.listen());
}

fn channels(tasks: &mut Spawner) {
    let (sender, receiver) = channel::bounded::<u32>(1);
    leak(sender);
    tasks.spawn(Wait::new("channel_recv").with("senders", 1), mutable(Box::pin(receiver)).next());
    let (sender, receiver) = channel::bounded::<u32>(1);
    leak(receiver);
    sender.try_send(1).unwrap();
    tasks.spawn(Wait::new("channel_send").with("queued", 1), leak(sender).send(2));
}

fn threads(tasks: &mut Spawner) {
    tasks.spawn(Wait::new("join"), smol::unblock(|| block()));
    let reader = mutable(Unblock::new(Quiet));
    tasks.spawn_reader(reader.read(mutable([0; 16])));
}

/// It ends when this process does.
fn processes(tasks: &mut Spawner) {
    let mut command = Command::new("cat");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let child = mutable(child);
    let output = mutable(child.stdout.take().unwrap());
    let fd = output.as_raw_fd();
    leak(child.stdin.take());
    tasks.spawn(io("readable", fd), output.read(mutable([0; 16])));
    tasks.spawn(Wait::new("io").with("direction", "readable"), child.status());
}

fn runtime(flavor: &'static str) -> Runtime {
    Runtime { kind: "async_executor", flavor, workers: None, name: None, alive: None, queued: None }
}

fn main() {
    let mut tasks = Spawner { count: 0 };
    sockets(&mut tasks);
    timers(&mut tasks);
    locks(&mut tasks);
    channels(&mut tasks);
    threads(&mut tasks);
    processes(&mut tasks);
    while TASKS.lock().unwrap().len() < tasks.count {
        thread::sleep(Duration::from_millis(1));
    }
    let mut truth =
        Truth::new("smol_waits").runtime(runtime("executor")).runtime(runtime("blocking"));
    for ((wait, other), id) in TASKS.lock().unwrap().drain(..) {
        let task = Task::idle(Some(id), &["smol_waits::watched"]).waits(wait);
        truth = truth.task(other.into_iter().fold(task, Task::beside));
    }
    for _ in 0..2 {
        truth = truth.task(Task::running(None, &[]).on(1));
    }
    // That of smol itself, which waits for processes.
    truth.task(Task::idle(None, &[])).publish();
    loop {
        thread::park();
    }
}
