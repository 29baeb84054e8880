//! Pipes in memory.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use truth::{here, Fact};

use crate::{keep, text, Tasks};

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
    let facts = vec![("direction", text("readable")), ("buffered", Fact::Number(0))];
    tasks.spawn(&["sockets::memory::read"], "duplex", facts, read(one));

    let (one, other) = tokio::io::duplex(64);
    keep(other);
    let facts = vec![("direction", text("writable")), ("buffered", Fact::Number(64))];
    tasks.spawn(&["sockets::memory::write_all"], "duplex", facts, write_all(one));
}
