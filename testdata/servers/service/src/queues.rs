//! Work that waits in queues, and who does it.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

pub struct Order {
    pub number: usize,
    pub reply: oneshot::Sender<usize>,
}

async fn pack(orders: flume::Receiver<Order>) {
    while let Ok(order) = orders.recv_async().await {
        sleep(Duration::from_millis(1)).await;
        let _ = order.reply.send(order.number * 2);
    }
}

/// Two packers behind a queue of four orders.
pub fn packers() -> flume::Sender<Order> {
    let (sender, receiver) = flume::bounded(4);
    tokio::spawn(pack(receiver.clone()));
    tokio::spawn(pack(receiver));
    sender
}

async fn count(events: async_channel::Receiver<usize>, totals: async_channel::Sender<usize>) {
    let mut total = 0;
    while let Ok(number) = events.recv().await {
        total += number;
        if total % 3 == 0 && totals.send(total).await.is_err() {
            break;
        }
    }
}

async fn publish(totals: async_channel::Receiver<usize>) {
    while totals.recv().await.is_ok() {}
}

/// Events are counted by one task, and totals published by another one.
pub fn events() -> async_channel::Sender<usize> {
    let (events, received) = async_channel::unbounded();
    let (sender, totals) = async_channel::bounded(2);
    tokio::spawn(count(received, sender));
    tokio::spawn(publish(totals));
    events
}
