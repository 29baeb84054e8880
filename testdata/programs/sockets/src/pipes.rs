//! Processes and their pipes, and whatever else has a file descriptor.

use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net;
use std::process::Stdio;

use tokio::io::unix::AsyncFd;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout, Command};
use truth::{here, Wait};

use crate::{io, io_of, keep, Tasks};

/// A user's own object that has a file descriptor.
struct Device {
    _number: u64,
    socket: net::UnixStream,
    _name: String,
}

impl AsRawFd for Device {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

async fn wait(mut child: Child) {
    here!("sockets::pipes::wait");
    let _ = child.wait().await;
}

async fn read(mut stdout: ChildStdout) {
    let mut buf = [0; 16];
    here!("sockets::pipes::read");
    let _ = stdout.read(&mut buf).await;
}

/// Since tokio 1.54 there is another way for objects whose fd is sure to stay.
#[allow(deprecated)]
fn watch<T: AsRawFd>(object: T) -> AsyncFd<T> {
    AsyncFd::new(object).expect("cannot watch it")
}

async fn device(device: AsyncFd<Device>) {
    here!("sockets::pipes::device");
    let _ = device.readable().await;
}

async fn descriptor(descriptor: AsyncFd<OwnedFd>) {
    here!("sockets::pipes::descriptor");
    let _ = descriptor.readable().await;
}

#[cfg(feature = "since_1_30")]
async fn receiver(mut pipe: tokio::net::unix::pipe::Receiver) {
    let mut buf = [0; 16];
    here!("sockets::pipes::receiver");
    let _ = pipe.read(&mut buf).await;
}

#[cfg(feature = "since_1_30")]
fn start_receiver(tasks: &mut Tasks) {
    use tokio::net::unix::pipe::Receiver;

    let stdout: OwnedFd = cat().stdout.take().expect("no pipe").into();
    let pipe = Receiver::from_file(stdout.into()).expect("no pipe");
    let facts = io_of("pipe::Receiver", "readable", &pipe);
    tasks.spawn(&["sockets::pipes::receiver"], facts, receiver(pipe));
}

#[cfg(not(feature = "since_1_30"))]
fn start_receiver(_tasks: &mut Tasks) {}

/// A child that ends with us, as its stdin does.
#[cfg(feature = "since_1_30")]
fn cat() -> std::process::Child {
    let mut command = std::process::Command::new("cat");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("no cat");
    keep(child.stdin.take());
    child
}

fn start_child(tasks: &mut Tasks) {
    let mut command = Command::new("cat");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("no cat");
    keep(child.stdin.take());
    let stdout = child.stdout.take().expect("no pipe");
    let facts = io_of("ChildStdout", "readable", &stdout);
    tasks.spawn(&["sockets::pipes::read"], facts, read(stdout));
    let pid = i64::from(child.id().expect("no pid"));
    let facts = Wait::new("process").with("pid", pid);
    tasks.spawn(&["sockets::pipes::wait"], facts, wait(child));
}

pub fn start(tasks: &mut Tasks) {
    start_child(tasks);
    start_receiver(tasks);

    let (socket, other) = net::UnixStream::pair().expect("cannot make a pair");
    keep(other);
    socket.set_nonblocking(true).unwrap();
    let object = Device { _number: 7, socket, _name: "device".to_string() };
    let facts = if cfg!(feature = "since_1_30") {
        io_of("AsyncFd", "readable", &object)
    } else {
        // Only epoll tells which descriptor such an object means.
        io("AsyncFd", "readable")
    };
    let future = device(watch(object));
    tasks.spawn(&["sockets::pipes::device"], facts, future);

    let (socket, other) = net::UnixStream::pair().expect("cannot make a pair");
    keep(other);
    socket.set_nonblocking(true).unwrap();
    let object = OwnedFd::from(socket);
    let facts = io_of("AsyncFd", "readable", &object);
    let future = descriptor(watch(object));
    tasks.spawn(&["sockets::pipes::descriptor"], facts, future);
}
