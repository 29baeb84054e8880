//! A future and a socket, side by side.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::TcpStream;
use truth::here;
use truth::tree::{at, Node};
use truth_tokio::Tasks;

use crate::{nap, readable, silent, Boxed};

/// Over when the child is, or when there is something to read.
pub(crate) struct Both<C, R> {
    pub(crate) child: C,
    pub(crate) reader: R,
}

impl<C, R> Future for Both<C, R>
where
    C: Future<Output = ()> + Unpin,
    R: AsyncRead + Unpin,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut self.child).poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut byte = [0];
        Pin::new(&mut self.reader).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(drop)
    }
}

/// Reads when the child is over, and not before.
pub(crate) struct InTurn {
    pub(crate) child: Boxed,
    pub(crate) stream: TcpStream,
}

impl Future for InTurn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.child.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.stream.poll_read_ready(cx).map(drop)
    }
}

async fn owned(reader: TcpStream) {
    let child: Boxed = Box::pin(nap());
    here!("composite::polled::owned");
    Both { child, reader }.await;
}

async fn borrowed(mut reader: TcpStream) {
    let child: Boxed = Box::pin(nap());
    here!("composite::polled::borrowed");
    Both { child, reader: &mut reader }.await;
}

async fn shared(reader: OwnedReadHalf) {
    let child: Boxed = Box::pin(nap());
    here!("composite::polled::shared");
    Both { child, reader }.await;
}

/// What the inner one waits for is told by the inner one.
async fn nested(reader: TcpStream, other: TcpStream) {
    let child: Boxed = Box::pin(nap());
    let child = Both { child, reader };
    here!("composite::polled::nested");
    Both { child, reader: other }.await;
}

async fn in_turn(stream: TcpStream) {
    let child: Boxed = Box::pin(nap());
    here!("composite::polled::in_turn");
    InTurn { child, stream }.await;
}

fn spawn(
    tasks: &mut Tasks,
    future: impl Future<Output = ()> + Send + 'static,
    tree: Node,
    leaves: usize,
) {
    let wait = (leaves > 1).then(readable);
    tasks.spawn_tree(future, tree.polls(at("composite::nap")), wait);
    tasks.leaves(leaves);
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    spawn(tasks, owned(silent().await), at("composite::polled::owned"), 2);
    spawn(tasks, borrowed(silent().await), at("composite::polled::borrowed"), 2);
    let (reader, writer) = silent().await.into_split();
    std::mem::forget(writer);
    spawn(tasks, shared(reader), at("composite::polled::shared"), 2);
    let inner = silent().await;
    spawn(tasks, nested(inner, silent().await), at("composite::polled::nested"), 3);
    spawn(tasks, in_turn(silent().await), at("composite::polled::in_turn"), 1);
}
