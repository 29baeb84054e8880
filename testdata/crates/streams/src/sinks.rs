//! Sinks, and halves of what is both.

use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_util::{Sink, SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_util::codec::{BytesCodec, Framed};
use tokio_util::sync::PollSender;
use truth::{here, Task, Wait};

use crate::sources::{keep, pair, source};
use crate::{drained, spawned};

type Object = Pin<Box<dyn Sink<u32, Error = ()> + Send>>;

async fn send(mut sink: PollSender<u32>) {
    here!("streams::sinks::send");
    let _ = sink.send(1).await;
}

async fn feed(mut sink: PollSender<u32>) {
    here!("streams::sinks::feed");
    let _ = sink.feed(1).await;
}

async fn send_boxed(mut sink: Object) {
    here!("streams::sinks::send_boxed");
    let _ = sink.send(1).await;
}

async fn send_with(sink: PollSender<u32>) {
    let sink = sink.sink_map_err(|_| ());
    let mut sink = Box::pin(sink.with(|item: u64| async move { Ok::<u32, ()>(item as u32) }));
    here!("streams::sinks::send_with");
    let _ = sink.send(1).await;
}

async fn forward(stream: crate::objects::Boxed, sink: PollSender<u32>) {
    here!("streams::sinks::forward");
    let _ = stream.map(Ok).forward(sink).await;
}

async fn forward_boxed(stream: crate::objects::Boxed, sink: Object) {
    here!("streams::sinks::forward_boxed");
    let _ = stream.map(Ok).forward(sink).await;
}

async fn write(mut sink: futures_util::stream::SplitSink<Framed<TcpStream, BytesCodec>, Bytes>) {
    let chunk = Bytes::from(vec![1; 1 << 20]);
    loop {
        here!("streams::sinks::write");
        let _ = sink.send(chunk.clone()).await;
    }
}

async fn read(mut stream: futures_util::stream::SplitStream<Framed<TcpStream, BytesCodec>>) {
    here!("streams::sinks::read");
    let _: Option<Result<BytesMut, _>> = stream.next().await;
}

/// A sink of a channel that is full.
fn full() -> (PollSender<u32>, Wait) {
    let (sender, receiver) = mpsc::channel(2);
    sender.try_send(1).expect("there is room");
    sender.try_send(2).expect("there is room");
    keep(receiver);
    let wait = Wait::new("mpsc_send").with("queued", 2).with("capacity", 2);
    (PollSender::new(sender), wait)
}

pub(crate) async fn spawn_all() -> Vec<Task> {
    let mut tasks = Vec::new();
    let (sink, wait) = full();
    tasks.push(spawned(send(sink), "streams::sinks::send", wait));
    let (sink, wait) = full();
    tasks.push(spawned(feed(sink), "streams::sinks::feed", wait));
    let (sink, wait) = full();
    let object = Box::pin(sink.sink_map_err(|_| ())) as Object;
    tasks.push(spawned(send_boxed(object), "streams::sinks::send_boxed", wait));
    let (sink, wait) = full();
    tasks.push(spawned(send_with(sink), "streams::sinks::send_with", wait));
    // Nothing to forward.
    let (stream, wait) = source();
    let (sink, _) = full();
    tasks.push(spawned(forward(stream.boxed(), sink), "streams::sinks::forward", wait));
    let (stream, wait) = source();
    let (sink, _) = full();
    let object = Box::pin(sink.sink_map_err(|_| ())) as Object;
    tasks.push(spawned(
        forward_boxed(stream.boxed(), object),
        "streams::sinks::forward_boxed",
        wait,
    ));
    // Something to forward, and no room for it.
    let (stream, _) = crate::sources::filled(3);
    let (sink, wait) = full();
    tasks.push(spawned(forward(stream.boxed(), sink), "streams::sinks::forward", wait));
    let (stream, _) = crate::sources::filled(3);
    let (sink, wait) = full();
    let object = Box::pin(sink.sink_map_err(|_| ())) as Object;
    tasks.push(spawned(
        forward_boxed(stream.boxed(), object),
        "streams::sinks::forward_boxed",
        wait,
    ));

    let io = |direction| Wait::new("io").with("resource", "TcpStream").with("direction", direction);
    let (ours, theirs) = pair().await;
    keep(theirs);
    let (sink, stream) = Framed::new(ours, BytesCodec::new()).split();
    tasks.push(spawned(read(stream), "streams::sinks::read", io("readable")));
    tasks.push(spawned(write(sink), "streams::sinks::write", io("writable")));
    let (ours, theirs) = pair().await;
    keep(theirs);
    let (sink, stream) = Framed::new(ours, BytesCodec::new()).split::<Bytes>();
    keep(sink);
    tasks.push(drained(Box::pin(stream.map(|item| item.is_ok())), io("readable")));
    let (ours, theirs) = pair().await;
    keep(theirs);
    tasks.push(drained(Framed::new(ours, BytesCodec::new()).boxed(), io("readable")));
    tasks
}
