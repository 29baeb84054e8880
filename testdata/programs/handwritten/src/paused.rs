//! Futures that do not poll the channel that they have: they wait to be let go on.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc::{self, Receiver};
use truth::{here, Task, Wait};

static PAUSED: AtomicBool = AtomicBool::new(true);
static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

fn is_paused(cx: &Context<'_>) -> bool {
    WAKERS.lock().unwrap().push(cx.waker().clone());
    PAUSED.load(Ordering::SeqCst)
}

struct Inbox {
    receiver: Receiver<u32>,
    received: u64,
}

impl Future for Inbox {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        if is_paused(cx) {
            return Poll::Pending;
        }
        self.received += 1;
        self.receiver.poll_recv(cx)
    }
}

async fn by_hand() {
    let (sender, receiver) = mpsc::channel(4);
    here!("handwritten::paused::by_hand");
    Inbox { receiver, received: 0 }.await;
    drop(sender);
}

async fn by_closure() {
    let (sender, mut receiver) = mpsc::channel(4);
    sender.try_send(1).unwrap();
    let closure = future::poll_fn(|cx| {
        if is_paused(cx) {
            return Poll::Pending;
        }
        receiver.poll_recv(cx)
    });
    here!("handwritten::paused::by_closure");
    closure.await;
    drop(sender);
}

pub fn spawn() -> Vec<Task> {
    let tasks = [
        (tokio::spawn(by_hand()), "handwritten::paused::by_hand"),
        (tokio::spawn(by_closure()), "handwritten::paused::by_closure"),
    ];
    tasks
        .iter()
        .map(|(task, name)| Task::idle(truth::id(task), &[name]).waits(Wait::new("unknown")))
        .collect()
}
