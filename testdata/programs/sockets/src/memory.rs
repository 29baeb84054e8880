//! Pipes in memory.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use truth::{here, Wait};

use crate::{keep, Tasks};

async fn read(mut stream: DuplexStream) {
    let mut buf = [0; 16];
    here!("sockets::memory::read");
    let _ = stream.read(&mut buf).await;
}

async fn write_all(mut stream: DuplexStream) {
    here!("sockets::memory::write_all");
    let _ = stream.write_all(&[0; 100]).await;
}

pub fn start(tasks: &mut Tasks) {
    let (one, other) = tokio::io::duplex(64);
    keep(other);
    let facts = Wait::new("duplex").with("direction", "readable").with("buffered", 0);
    tasks.spawn(&["sockets::memory::read"], facts, read(one));

    let (one, other) = tokio::io::duplex(64);
    keep(other);
    let facts = Wait::new("duplex").with("direction", "writable").with("buffered", 64);
    tasks.spawn(&["sockets::memory::write_all"], facts, write_all(one));
}
