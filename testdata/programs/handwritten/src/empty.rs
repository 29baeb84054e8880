//! A future whose inner future has ended, so that it holds none.

use std::future::{ready, Future, Ready};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use truth::{here, Task, Wait};

static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

/// Pending once its future has ended.
struct Spent<F> {
    inner: Option<F>,
}

impl<F: Future + Unpin> Future for Spent<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(inner) = &mut self.inner {
            if Pin::new(inner).poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.inner = None;
        }
        WAKERS.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    }
}

async fn wait() {
    let spent: Spent<Ready<u32>> = Spent { inner: Some(ready(1)) };
    here!("handwritten::empty::wait");
    spent.await;
}

pub fn spawn() -> Task {
    let id = truth::id(&tokio::spawn(wait()));
    Task::idle(id, &["handwritten::empty::wait"]).waits(Wait::new("empty"))
}
