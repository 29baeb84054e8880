//! Signals, and files that threads of the blocking pool read.

use std::os::unix::io::{AsRawFd, OwnedFd};
use std::os::unix::net;
use std::pin::Pin;

use futures_util::future::poll_fn;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::signal::unix::{signal, Signal, SignalKind};
use truth::{here, Wait};

use crate::{keep, Tasks};

async fn user_signal(mut signal: Signal) {
    here!("sockets::other::user_signal");
    signal.recv().await;
}

async fn ctrl_c() {
    here!("sockets::other::ctrl_c");
    let _ = tokio::signal::ctrl_c().await;
}

async fn stdin() {
    let mut buf = [0; 16];
    let mut stdin = tokio::io::stdin();
    here!("sockets::other::stdin");
    let _ = stdin.read(&mut buf).await;
}

async fn file(mut file: File) {
    let mut bytes = [0; 16];
    let mut buf = ReadBuf::new(&mut bytes);
    let read = poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut buf));
    here!("sockets::other::file");
    let _ = read.await;
}

pub fn start(tasks: &mut Tasks) {
    let user = SignalKind::user_defined1();
    let facts = Wait::new("signal").with("signal", user.as_raw_value());
    let future = user_signal(signal(user).expect("no signals"));
    tasks.spawn(&["sockets::other::user_signal"], facts, future);
    let interrupt = SignalKind::interrupt().as_raw_value();
    let facts = Wait::new("signal").with("signal", interrupt);
    tasks.spawn(&["sockets::other::ctrl_c"], facts, ctrl_c());

    // The id of its job nobody is told.
    let facts = Wait::new("blocking").with("resource", "Stdin").with("busy", true);
    tasks.spawn(&["sockets::other::stdin"], facts, stdin());
    let (socket, other) = net::UnixStream::pair().expect("cannot make a pair");
    keep(other);
    let fd = socket.as_raw_fd();
    let facts = Wait::new("blocking").with("resource", "File").with("busy", true).with("fd", fd);
    let future = file(File::from_std(OwnedFd::from(socket).into()));
    tasks.spawn(&["sockets::other::file"], facts, future);
}
