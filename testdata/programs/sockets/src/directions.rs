//! Who waits to read and who to write, where a socket's slots for wakers do not tell it: a socket
//! that several futures use, and wakers of reads that were given up.

use std::future::Future;
use std::io;
use std::os::unix::net;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{poll_fn, poll_immediate};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::io::{BufReader, BufWriter, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream};
use truth::{here, Wait};

use crate::tcp::{pair, stream};
use crate::{io_of, keep, much, Tasks, MUCH};

/// Polls a read once, then drops it: its waker stays in the socket.
async fn try_read(stream: &mut (impl AsyncRead + Unpin)) {
    let mut buf = [0; 16];
    assert!(poll_immediate(stream.read(&mut buf)).await.is_none());
}

/// The same of a write: as much as it takes, and once more.
async fn try_write(stream: &mut (impl AsyncWrite + Unpin)) {
    while poll_immediate(stream.write(&[0; 1 << 16])).await.is_some() {}
}

/// A stream of a type that nobody knows.
struct Wrapped {
    count: u64,
    inner: TcpStream,
}

impl AsyncRead for Wrapped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.count += 1;
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wrapped {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.count += 1;
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

async fn wrapped_read(inner: TcpStream) {
    let mut stream = Wrapped { count: 0, inner };
    try_write(&mut stream).await;
    let mut buf = [0; 16];
    here!("sockets::directions::wrapped_read");
    let _ = stream.read(&mut buf).await;
}

async fn wrapped_line(inner: TcpStream) {
    let mut stream = Wrapped { count: 0, inner };
    try_write(&mut stream).await;
    let mut lines = BufReader::new(stream).lines();
    here!("sockets::directions::wrapped_line");
    let _ = lines.next_line().await;
}

async fn wrapped_write(inner: TcpStream) {
    let mut stream = Wrapped { count: 0, inner };
    try_read(&mut stream).await;
    here!("sockets::directions::wrapped_write");
    let _ = stream.write_all(much()).await;
}

async fn wrapped_copy(inner: TcpStream) {
    let mut to = Wrapped { count: 0, inner };
    try_read(&mut to).await;
    let mut from = tokio::io::repeat(0);
    here!("sockets::directions::wrapped_copy");
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

async fn reader(mut half: OwnedReadHalf) {
    let mut buf = [0; 16];
    here!("sockets::directions::reader");
    let _ = half.read(&mut buf).await;
}

async fn writer(mut half: OwnedWriteHalf) {
    here!("sockets::directions::writer");
    let _ = half.write_all(much()).await;
}

/// One task reads, another one has a write that it has not polled.
async fn other_tasks_write(mut half: OwnedWriteHalf) {
    let write = half.write_all(b"later");
    here!("sockets::directions::other_tasks_write");
    tokio::time::sleep(truth::FOREVER).await;
    let _ = write.await;
}

/// The write waits until the read is over.
async fn write_later<R, W>(mut reader: R, mut writer: W)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buf = [0; 16];
    let write = writer.write_all(b"later");
    here!("sockets::directions::write_later");
    let _ = reader.read(&mut buf).await;
    let _ = write.await;
}

async fn borrowed(mut stream: TcpStream) {
    let (mut reader, mut writer) = stream.split();
    let mut buf = [0; 16];
    let write = writer.write_all(b"later");
    here!("sockets::directions::borrowed");
    let _ = reader.read(&mut buf).await;
    let _ = write.await;
}

/// What a function polls that nobody has called yet.
async fn poll_later(mut reader: OwnedReadHalf, mut writer: OwnedWriteHalf) {
    let mut buf = [0; 16];
    let write = poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, b"later"));
    here!("sockets::directions::poll_later");
    let _ = reader.read(&mut buf).await;
    let _ = write.await;
}

async fn write_all(mut stream: TcpStream) {
    try_read(&mut stream).await;
    here!("sockets::directions::write_all");
    let _ = stream.write_all(much()).await;
}

async fn write_some(mut stream: TcpStream) {
    let data = vec![0; 1 << 20];
    try_read(&mut stream).await;
    loop {
        here!("sockets::directions::write_some");
        let _ = stream.write(&data).await;
    }
}

/// The buffer takes what is written, until it is flushed.
async fn flush(stream: TcpStream) {
    let mut stream = BufWriter::new(stream);
    try_read(&mut stream).await;
    loop {
        stream.write_all(&[0; 4096]).await.expect("cannot buffer");
        here!("sockets::directions::flush");
        let _ = stream.flush().await;
    }
}

async fn shutdown(stream: TcpStream) {
    let mut stream = BufWriter::with_capacity(MUCH, stream);
    try_read(&mut stream).await;
    stream.write_all(much()).await.expect("cannot buffer");
    here!("sockets::directions::shutdown");
    let _ = stream.shutdown().await;
}

async fn buffered(stream: TcpStream) {
    let mut stream = BufWriter::new(stream);
    try_read(&mut stream).await;
    here!("sockets::directions::buffered");
    let _ = stream.write_all(much()).await;
}

async fn unix(mut stream: UnixStream) {
    try_read(&mut stream).await;
    here!("sockets::directions::unix");
    let _ = stream.write_all(much()).await;
}

async fn copy(mut to: TcpStream) {
    try_read(&mut to).await;
    let mut from = tokio::io::repeat(0);
    here!("sockets::directions::copy");
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

async fn half_duplex(stream: TcpStream) {
    let mut buf = [0; 16];
    let (mut reader, mut writer) = stream.into_split();
    here!("sockets::directions::half_duplex");
    tokio::select! {
        _ = reader.read(&mut buf) => {}
        _ = writer.write_all(much()) => {}
    }
}

/// What comes from one goes to the other, which takes nothing and says nothing: it is waited for in
/// both directions, and nothing is asked of the first one meanwhile.
async fn copy_both(mut one: TcpStream, mut other: TcpStream) {
    here!("sockets::directions::copy_both");
    let _ = tokio::io::copy_bidirectional(&mut one, &mut other).await;
}

async fn memory(mut stream: tokio::io::DuplexStream) {
    try_read(&mut stream).await;
    here!("sockets::directions::memory");
    let _ = stream.write_all(&[0; 100]).await;
}

/// Nobody has polled it yet, so that nobody is woken for it.
fn later(wait: Wait) -> Wait {
    wait.with("registered", false)
}

/// A stream, and how a read and a write of it are told.
fn both() -> (TcpStream, Wait, Wait) {
    let stream = pair().expect("cannot connect");
    let reads = io_of("TcpStream", "readable", &stream);
    let writes = io_of("TcpStream", "writable", &stream);
    (stream, reads, writes)
}

fn spawn<F>(tasks: &mut Tasks, chain: &'static str, f: fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (stream, facts) = stream("writable");
    tasks.spawn(&[chain], facts, f(stream));
}

fn shared(tasks: &mut Tasks) {
    let (stream, reads, writes) = both();
    let (read, write) = stream.into_split();
    tasks.spawn(&["sockets::directions::reader"], reads, reader(read));
    tasks.spawn(&["sockets::directions::writer"], writes, writer(write));

    let (stream, reads, writes) = both();
    let (read, write) = stream.into_split();
    tasks.spawn(&["sockets::directions::reader"], reads, reader(read));
    let chain = &["sockets::directions::other_tasks_write"];
    tasks.spawn(chain, Wait::new("sleep"), other_tasks_write(write));
    tasks.beside(later(writes));
}

fn unpolled(tasks: &mut Tasks) {
    let (stream, reads, writes) = both();
    let (read, write) = stream.into_split();
    tasks.spawn(&["sockets::directions::write_later"], reads, write_later(read, write));
    tasks.beside(later(writes));

    let (stream, reads, writes) = both();
    let (read, write) = tokio::io::split(stream);
    tasks.spawn(&["sockets::directions::write_later"], reads, write_later(read, write));
    tasks.beside(later(writes));

    let (stream, reads, writes) = both();
    tasks.spawn(&["sockets::directions::borrowed"], reads, borrowed(stream));
    tasks.beside(later(writes));

    let (stream, reads, writes) = both();
    let (read, write) = stream.into_split();
    tasks.spawn(&["sockets::directions::poll_later"], reads, poll_later(read, write));
    tasks.beside(later(writes));
}

/// Its peer sends without end.
fn flooded() -> std::io::Result<TcpStream> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let stream = std::net::TcpStream::connect(listener.local_addr()?)?;
    let mut peer = listener.accept()?.0;
    std::thread::spawn(move || {
        use std::io::Write;
        while peer.write_all(&[0; 1 << 16]).is_ok() {}
        keep(peer);
    });
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

/// Of each, a waker is left that an earlier operation stored for the other direction.
fn wrapped(tasks: &mut Tasks) {
    spawn(tasks, "sockets::directions::wrapped_write", wrapped_write);
    spawn(tasks, "sockets::directions::wrapped_copy", wrapped_copy);
    let (one, facts) = stream("readable");
    tasks.spawn(&["sockets::directions::wrapped_read"], facts, wrapped_read(one));
    let (one, facts) = stream("readable");
    tasks.spawn(&["sockets::directions::wrapped_line"], facts, wrapped_line(one));
}

pub fn start(tasks: &mut Tasks) {
    shared(tasks);
    wrapped(tasks);
    unpolled(tasks);
    spawn(tasks, "sockets::directions::write_all", write_all);
    spawn(tasks, "sockets::directions::write_some", write_some);
    spawn(tasks, "sockets::directions::flush", flush);
    spawn(tasks, "sockets::directions::shutdown", shutdown);
    spawn(tasks, "sockets::directions::buffered", buffered);
    spawn(tasks, "sockets::directions::copy", copy);

    let (one, other) = net::UnixStream::pair().expect("cannot make a pair");
    keep(other);
    one.set_nonblocking(true).unwrap();
    let one = UnixStream::from_std(one).unwrap();
    let facts = io_of("UnixStream", "writable", &one);
    tasks.spawn(&["sockets::directions::unix"], facts, unix(one));

    let (connection, reads, writes) = both();
    tasks.spawn(&["sockets::directions::half_duplex"], reads, half_duplex(connection));
    tasks.beside(writes);

    let one = flooded().expect("cannot connect");
    let (other, facts) = stream("readable or writable");
    tasks.spawn(&["sockets::directions::copy_both"], facts, copy_both(one, other));

    let (one, other) = tokio::io::duplex(64);
    keep(other);
    let facts = Wait::new("duplex").with("direction", "writable").with("buffered", 64);
    tasks.spawn(&["sockets::directions::memory"], facts, memory(one));

    let (one, other) = tokio::io::duplex(64);
    keep(other);
    let (read, write) = tokio::io::split(one);
    let reads = Wait::new("duplex").with("direction", "readable").with("buffered", 0);
    tasks.spawn(&["sockets::directions::write_later"], reads, write_later(read, write));
    let writes = Wait::new("duplex").with("direction", "writable").with("buffered", 0);
    tasks.beside(later(writes));
}
