//! What the crate futures has.

use std::future::Pending;

use futures_util::future::{FutureExt, Shared};
use futures_util::lock::Mutex;
use futures_util::stream::FuturesUnordered;
use futures_channel::{mpsc, oneshot};
use tokio::time::sleep;
use truth::{here, used, FOREVER};

use crate::shown;

pub async fn channels() {
    let name = "values::futures::channels";
    let (mut sender, receiver) = mpsc::channel::<u8>(4);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    let (unbounded, end) = mpsc::unbounded::<u16>();
    unbounded.unbounded_send(3).unwrap();
    let (one, other) = oneshot::channel::<u8>();
    let (sent, got) = oneshot::channel();
    sent.send(7u8).unwrap();
    shown!(name, sender, "Sender {{ queued: 2, senders: 1 }}");
    shown!(name, receiver, "Receiver {{ queued: 2, senders: 1 }}");
    shown!(name, unbounded, "UnboundedSender {{ queued: 1, senders: 1 }}");
    shown!(name, end, "UnboundedReceiver {{ queued: 1, senders: 1 }}");
    shown!(name, one, "Sender {{ open }}");
    shown!(name, other, "Receiver {{ sender alive }}");
    shown!(name, got, "Receiver {{ value: 7 }}");
    here!("values::futures::channels");
    sleep(FOREVER).await;
    used!(sender, receiver, unbounded, end, one, other, got);
}

pub async fn sets() {
    let name = "values::futures::sets";
    let set: FuturesUnordered<Pending<()>> = (0..3).map(|_| std::future::pending()).collect();
    let empty: FuturesUnordered<Pending<()>> = FuturesUnordered::new();
    let shared: Shared<Pending<u8>> = std::future::pending().shared();
    let mutex = Mutex::new(1u8);
    shown!(name, set, "FuturesUnordered {{ futures: 3 }}");
    shown!(name, empty, "FuturesUnordered {{ futures: 0 }}");
    shown!(name, shared, "Shared {{ not polled }}");
    shown!(name, mutex, "Mutex {{ data: 1 }}");
    here!("values::futures::sets");
    sleep(FOREVER).await;
    used!(set, empty, shared, mutex);
}
