//! Unix sockets.

use std::os::unix::net;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixDatagram, UnixListener, UnixStream};
use truth::here;

use crate::{io_of, keep, much, Tasks};

async fn accept(listener: UnixListener) {
    here!("sockets::local::accept");
    let _ = listener.accept().await;
}

async fn read(mut stream: UnixStream) {
    let mut buf = [0; 16];
    here!("sockets::local::read");
    let _ = stream.read(&mut buf).await;
}

async fn write_all(mut stream: UnixStream) {
    here!("sockets::local::write_all");
    let _ = stream.write_all(much()).await;
}

async fn recv(socket: UnixDatagram) {
    let mut buf = [0; 16];
    here!("sockets::local::recv");
    let _ = socket.recv(&mut buf).await;
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("asyncdbg-{}-{}", std::process::id(), name))
}

fn stream() -> UnixStream {
    let (one, other) = net::UnixStream::pair().expect("cannot make a pair");
    keep(other);
    one.set_nonblocking(true).unwrap();
    UnixStream::from_std(one).unwrap()
}

pub fn start(tasks: &mut Tasks) {
    let name = path("stream");
    let listener = UnixListener::bind(&name).expect("cannot listen");
    std::fs::remove_file(&name).unwrap();
    let facts = io_of("UnixListener", "readable", &listener);
    let facts = facts.with("local", name.display().to_string());
    tasks.spawn(&["sockets::local::accept"], facts, accept(listener));

    let one = stream();
    let facts = io_of("UnixStream", "readable", &one);
    tasks.spawn(&["sockets::local::read"], facts, read(one));
    let one = stream();
    let facts = io_of("UnixStream", "writable", &one);
    tasks.spawn(&["sockets::local::write_all"], facts, write_all(one));

    let name = path("datagram");
    let socket = UnixDatagram::bind(&name).expect("cannot bind");
    std::fs::remove_file(&name).unwrap();
    let facts = io_of("UnixDatagram", "readable", &socket);
    let facts = facts.with("local", name.display().to_string());
    tasks.spawn(&["sockets::local::recv"], facts, recv(socket));
}
