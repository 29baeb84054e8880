//! Servers as one writes them by hand: a listener, and what else a server waits for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, Stream};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use truth::here;
use truth::tree::at;
use truth::Wait;
use truth_tokio::Tasks;

use crate::{listen, nap, Boxed};

/// Takes connections until the signal comes.
struct Graceful {
    listener: TcpListener,
    signal: Boxed,
    accepted: u64,
}

impl Future for Graceful {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        while self.listener.poll_accept(cx).is_ready() {
            self.accepted += 1;
        }
        let accepted = self.accepted;
        self.signal.as_mut().poll(cx).map(|()| accepted)
    }
}

/// The same with commands, for which it has a sender itself, to give to others.
struct Multiplexer {
    listener: TcpListener,
    commands: UnboundedReceiver<u32>,
    handle: UnboundedSender<u32>,
    stopped: oneshot::Receiver<()>,
    stop: Option<oneshot::Sender<()>>,
}

impl Future for Multiplexer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Pin::new(&mut self.stopped).poll(cx).is_ready() || self.handle.is_closed() {
            return Poll::Ready(());
        }
        while let Poll::Ready(Some(_)) = self.commands.poll_recv(cx) {}
        while self.listener.poll_accept(cx).is_ready() {
            self.stop.take();
        }
        Poll::Pending
    }
}

/// Serves all its connections itself.
struct Hub {
    listener: TcpListener,
    connections: FuturesUnordered<Boxed>,
}

impl Future for Hub {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        while self.listener.poll_accept(cx).is_ready() {
            self.connections.push(Box::pin(nap()));
        }
        while let Poll::Ready(Some(())) = Pin::new(&mut self.connections).poll_next(cx) {}
        Poll::Pending
    }
}

async fn graceful(listener: TcpListener) {
    let server = Graceful { listener, signal: Box::pin(nap()), accepted: 0 };
    here!("composite::servers::graceful");
    server.await;
}

/// Has both ends of both channels: only the listener can make it go on.
async fn multiplexed(listener: TcpListener) {
    let (handle, commands) = mpsc::unbounded_channel();
    let (stop, stopped) = oneshot::channel();
    let server = Multiplexer { listener, commands, handle, stopped, stop: Some(stop) };
    here!("composite::servers::multiplexed");
    server.await;
}

async fn hub(listener: TcpListener) {
    let connections: FuturesUnordered<Boxed> = (0..3).map(|_| Box::pin(nap()) as Boxed).collect();
    let server = Hub { listener, connections };
    here!("composite::servers::hub");
    server.await;
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    let accepts = || Wait::new("io").with("resource", "TcpListener").with("direction", "readable");

    let tree = at("composite::servers::graceful").polls(at("composite::nap"));
    tasks.spawn_tree(graceful(listen().await), tree, Some(accepts()));
    tasks.leaves(2);

    tasks.spawn_tree(
        multiplexed(listen().await),
        at("composite::servers::multiplexed"),
        Some(accepts()),
    );
    tasks.beside(Wait::new("mpsc_recv").with("senders", 1));
    tasks.beside(Wait::new("oneshot"));
    tasks.leaves(3);

    let tree = at("composite::servers::hub").set(at("composite::nap").times(3));
    tasks.spawn_tree(hub(listen().await), tree, Some(accepts()));
    tasks.leaves(4);
}
