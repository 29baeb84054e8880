//! A future whose poll function leaves no code in optimised builds: nothing but what polls it tells
//! that it is one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{sleep, timeout};
use truth::{here, Task, FOREVER};

struct Never {
    token: u64,
}

impl Future for Never {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

async fn timed() {
    here!("handwritten::never::timed");
    let _ = timeout(FOREVER, Never { token: 1 }).await;
}

/// Holds one and polls another.
async fn both() {
    let never = Never { token: 2 };
    here!("handwritten::never::both");
    let _ = timeout(FOREVER, Never { token: never.token + 1 }).await;
    never.await;
}

async fn held() {
    let never = Never { token: 3 };
    here!("handwritten::never::held");
    sleep(FOREVER).await;
    never.await;
}

pub fn spawn() -> Vec<Task> {
    vec![
        Task::idle(truth::id(&tokio::spawn(timed())), &["handwritten::never::timed"]),
        Task::idle(truth::id(&tokio::spawn(both())), &["handwritten::never::both"]),
        Task::idle(truth::id(&tokio::spawn(held())), &["handwritten::never::held"]).sleeps(),
    ]
}
