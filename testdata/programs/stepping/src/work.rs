//! What the scenarios wait for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use tokio::task::yield_now;

use crate::record::Me;

#[derive(Debug)]
pub struct Refused;

/// Ready at once.
pub async fn value(_: Me, value: u32) -> u32 {
    value
}

/// Suspends so many times.
pub async fn yields(_: Me, times: u32) -> u32 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

pub async fn check(me: Me, good: bool) -> Result<u32, Refused> {
    match yields(me, 1).await {
        value if good => Ok(value),
        _ => Err(Refused),
    }
}

/// Until a line has come from stdin.
pub async fn answer(_: Me) -> u32 {
    let line = tokio::task::spawn_blocking(|| io::stdin().read_line(&mut String::new()));
    matches!(line.await, Ok(Ok(_))) as u32
}

/// Never ends. It is known to be suspended when the other side has received a message.
pub async fn forever(_: Me, suspended: Option<mpsc::Sender<()>>) {
    std::future::poll_fn(|_| {
        suspended.iter().for_each(|sender| sender.send(()).unwrap_or(()));
        Poll::<()>::Pending
    })
    .await;
}

/// Goes on on another worker of a tokio runtime: this one gets a task that blocks it meanwhile.
pub struct Hop {
    from: Option<ThreadId>,
    blocked: Option<mpsc::Sender<()>>,
}

pub fn hop(_: Me) -> Hop {
    Hop { from: None, blocked: None }
}

impl Future for Hop {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let here = thread::current().id();
        match self.from {
            Some(from) if from != here => Poll::Ready(()),
            Some(_) => Poll::Pending,
            None => {
                let (sender, receiver) = mpsc::channel::<()>();
                self.from = Some(here);
                self.blocked = Some(sender);
                tokio::spawn(async move { receiver.recv().is_ok() });
                let waker = cx.waker().clone();
                thread::spawn(move || waker.wake());
                Poll::Pending
            }
        }
    }
}

/// Polls a future once.
pub async fn poll_once<F: Future + Unpin>(_: Me, future: &mut F) {
    std::future::poll_fn(|cx| {
        let _ = Pin::new(&mut *future).poll(cx);
        Poll::Ready(())
    })
    .await
}
