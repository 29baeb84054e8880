//! Tasks of smol's executor that wait for file descriptors, by async-io and by the sockets of smol.

use std::future::poll_fn;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_io::Async;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use truth::{here, leak, Task, Truth, Wait};

static TASKS: Mutex<Vec<(&str, u64)>> = Mutex::new(Vec::new());

async fn polled(name: &'static str) {
    let id = poll_fn(|cx| Poll::Ready(cx.waker().data() as u64)).await;
    TASKS.lock().unwrap().push((name, id));
}

fn task(name: &str) -> Option<u64> {
    let tasks = TASKS.lock().unwrap();
    tasks.iter().find(|task| task.0 == name).map(|task| task.1)
}

async fn accepts(listener: Async<TcpListener>) {
    polled("accepts").await;
    here!("async_sockets::accepts");
    let _ = listener.accept().await;
}

async fn waits(stream: Async<TcpStream>) {
    polled("waits").await;
    here!("async_sockets::waits");
    let _ = stream.readable().await;
}

async fn writes(stream: Async<UnixStream>) {
    polled("writes").await;
    let bytes = [0u8; 4096];
    while stream.get_ref().peer_addr().is_ok() && full(&stream, &bytes) {}
    here!("async_sockets::writes");
    let _ = stream.writable().await;
}

/// Writes what fits; false: nothing does any more.
fn full(stream: &Async<UnixStream>, bytes: &[u8]) -> bool {
    use std::io::Write;
    stream.get_ref().write(bytes).is_ok()
}

async fn reads(mut stream: smol::net::TcpStream) {
    polled("reads").await;
    let mut bytes = [0u8; 16];
    here!("async_sockets::reads");
    let _ = stream.read(&mut bytes).await;
    let _ = stream.write(&bytes).await;
}

fn idle(name: &str, chain: &[&'static str], direction: &'static str, fd: RawFd) -> Task {
    let io = Wait::new("io").with("direction", direction).with("fd", fd);
    Task::idle(task(name), chain).waits(io)
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        leak(listener.accept().unwrap());
        stream
    };
    let [first, second] = [connect(), connect()];
    let (out, other) = UnixStream::pair().unwrap();
    leak(other);
    let fds = [listener.as_raw_fd(), first.as_raw_fd(), out.as_raw_fd(), second.as_raw_fd()];
    smol::spawn(accepts(Async::new(listener).unwrap())).detach();
    smol::spawn(waits(Async::new(first).unwrap())).detach();
    smol::spawn(writes(Async::new(out).unwrap())).detach();
    smol::spawn(reads(Async::new(second).unwrap().into())).detach();
    while TASKS.lock().unwrap().len() < 4 {
        thread::sleep(Duration::from_millis(1));
    }
    let runtime = truth::Runtime {
        kind: "async_executor",
        flavor: "executor",
        workers: None,
        name: None,
        alive: None,
        queued: None,
    };
    Truth::new("async_sockets")
        .runtime(runtime)
        .task(idle("accepts", &["async_sockets::accepts"], "readable", fds[0]))
        .task(idle("waits", &["async_sockets::waits"], "readable", fds[1]))
        .task(idle("writes", &["async_sockets::writes"], "writable", fds[2]))
        .task(idle("reads", &["async_sockets::reads"], "readable", fds[3]))
        // That of smol itself, which waits for processes.
        .task(Task::idle(None, &[]))
        .publish();
    loop {
        thread::park();
    }
}
