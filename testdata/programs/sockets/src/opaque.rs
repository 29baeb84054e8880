//! Futures that cannot be entered, as those with a stream of a C library: their sockets are behind
//! pointers without a type. What is registered for their wakers tells what they wait for.

use std::future::Future;
use std::os::unix::io::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{join, poll_immediate};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use truth::{here, Wait};

use crate::tcp::pair;
use crate::{io_of, keep, Tasks};

/// Waits at streams that it has as the user data of a C library.
struct Foreign {
    streams: Vec<*mut ()>,
    poll: fn(&TcpStream, &mut Context<'_>) -> Poll<()>,
}

// SAFETY: nothing else uses the streams.
unsafe impl Send for Foreign {}

fn poll_read(stream: &TcpStream, cx: &mut Context<'_>) -> Poll<()> {
    stream.poll_read_ready(cx).map(drop)
}

fn poll_write(stream: &TcpStream, cx: &mut Context<'_>) -> Poll<()> {
    loop {
        match stream.try_write(&[0; 1 << 16]) {
            Ok(_) => {}
            Err(_) => return stream.poll_write_ready(cx).map(drop),
        }
    }
}

fn poll_nothing(_: &TcpStream, _: &mut Context<'_>) -> Poll<()> {
    Poll::Pending
}

impl Foreign {
    fn new(
        streams: impl IntoIterator<Item = TcpStream>,
        poll: fn(&TcpStream, &mut Context<'_>) -> Poll<()>,
    ) -> Foreign {
        let streams =
            streams.into_iter().map(|stream| Box::into_raw(Box::new(stream)).cast()).collect();
        Foreign { streams, poll }
    }
}

impl Future for Foreign {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        for &stream in &self.streams {
            // SAFETY: new() leaked a stream of that type.
            let stream = unsafe { &*stream.cast::<TcpStream>() };
            if (self.poll)(stream, cx).is_ready() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}

/// An HTTP client's connection: it has a signal of its own, and a stream of a C library.
struct Connection {
    signal: oneshot::Receiver<()>,
    foreign: Foreign,
}

impl Future for Connection {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut self.signal).poll(cx).is_ready() {
            return Poll::Ready(());
        }
        Pin::new(&mut self.foreign).poll(cx)
    }
}

async fn connection(connection: Connection) {
    here!("sockets::opaque::connection");
    connection.await
}

async fn one(foreign: Foreign) {
    here!("sockets::opaque::one");
    foreign.await
}

async fn two(foreign: Foreign) {
    here!("sockets::opaque::two");
    foreign.await
}

/// The socket at which the other branch waits is not that of the foreign one.
async fn beside(foreign: Foreign, mut stream: TcpStream) {
    let mut buf = [0; 16];
    let read = async {
        let _ = stream.read(&mut buf).await;
    };
    here!("sockets::opaque::beside");
    join(foreign, read).await;
}

/// A read that was given up left its waker: a registration proves no wait.
async fn given_up(foreign: Foreign, mut stream: TcpStream) {
    let mut buf = [0; 16];
    assert!(poll_immediate(stream.read(&mut buf)).await.is_none());
    here!("sockets::opaque::given_up");
    foreign.await;
    drop(stream);
}

fn connected() -> TcpStream {
    pair().expect("cannot connect")
}

fn registered(direction: &str, stream: &TcpStream) -> Wait {
    Wait::new("waker").with("direction", direction).with("fd", stream.as_raw_fd())
}

pub fn start(tasks: &mut Tasks) {
    let socket = connected();
    let facts = registered("readable", &socket);
    tasks.spawn(&["sockets::opaque::one"], facts, one(Foreign::new([socket], poll_read)));
    let socket = connected();
    let facts = registered("writable", &socket);
    tasks.spawn(&["sockets::opaque::one"], facts, one(Foreign::new([socket], poll_write)));
    let sockets = [connected(), connected()];
    let facts = Wait::new("waker");
    tasks.spawn(&["sockets::opaque::two"], facts, two(Foreign::new(sockets, poll_read)));
    tasks.spawn(
        &["sockets::opaque::one"],
        Wait::new("nothing"),
        one(Foreign::new([], poll_nothing)),
    );
    let socket = connected();
    let chain = &["sockets::opaque::beside"];
    let facts = Wait::new("unknown");
    let other = io_of("TcpStream", "readable", &socket);
    tasks.spawn(chain, facts, beside(Foreign::new([], poll_nothing), socket));
    tasks.beside(other);
    let socket = connected();
    let chain = &["sockets::opaque::given_up"];
    let facts = registered("readable", &socket);
    tasks.spawn(chain, facts, given_up(Foreign::new([], poll_nothing), socket));
    let (sender, signal) = oneshot::channel();
    keep(sender);
    let socket = connected();
    let other = registered("readable", &socket);
    let foreign = Foreign::new([socket], poll_read);
    let chain = &["sockets::opaque::connection"];
    let future = connection(Connection { signal, foreign });
    tasks.spawn(chain, Wait::new("oneshot"), future);
    tasks.beside(other);
}
