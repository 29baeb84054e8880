//! Futures that have both ends of a channel: the waker that the channel keeps is that of the end
//! which is polled, and no other way on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::mpsc::{self, Receiver, Sender};
use truth::here;
use truth::tree::at;
use truth::Wait;
use truth_tokio::Tasks;

use crate::Boxed;

/// Keeps a sender, and polls what receives.
struct Echo {
    receive: Boxed,
    sender: Sender<u32>,
}

impl Future for Echo {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        self.receive.as_mut().poll(cx).map(|()| self.sender.is_closed())
    }
}

async fn receive(mut receiver: Receiver<u32>) {
    here!("composite::ends::receive");
    receiver.recv().await;
}

/// Will never go on.
async fn echo() {
    let (sender, receiver) = mpsc::channel(1);
    let echo = Echo { receive: Box::pin(receive(receiver)), sender };
    here!("composite::ends::echo");
    echo.await;
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let tree = at("composite::ends::echo").polls(at("composite::ends::receive"));
    let waits = Wait::new("mpsc_recv").with("senders", 1);
    let task = tasks.spawn_tree(echo(), tree, Some(waits));
    tasks.leaves(1);
    tasks.graph.lost(task, true);
}
