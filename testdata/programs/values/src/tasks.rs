//! Handles of tasks, wakers, times.

use std::future::{pending, poll_fn, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{interval, sleep, Instant, Interval, Sleep};
use truth::{here, locals, used, FOREVER};

use crate::{shown, Waiters};

pub fn make_handles(waiters: &mut Waiters) -> impl Future<Output = ()> + Send {
    let handle = tokio::spawn(crate::waiter(pending::<()>()));
    let mut set = JoinSet::new();
    waiters.0.push(truth::id(&handle));
    for _ in 0..2 {
        waiters.0.push(truth::id(&set.spawn(crate::waiter(pending::<()>()))));
    }
    let aborts = set.spawn(crate::waiter(pending::<()>()));
    waiters.0.push(truth::id(&aborts));
    handles(handle, aborts, set)
}

async fn handles(handle: JoinHandle<()>, aborts: AbortHandle, set: JoinSet<()>) {
    let name = "values::tasks::handles";
    let (id, aborted) = (truth::id(&handle).unwrap(), truth::id(&aborts).unwrap());
    let mut finished = tokio::spawn(async { 5u8 });
    let done = truth::id(&finished).unwrap();
    while !finished.is_finished() {
        tokio::task::yield_now().await;
    }
    let runtime = tokio::runtime::Handle::current();
    shown!(name, handle, "JoinHandle {{ task: {}, finished: false }}", id);
    shown!(name, aborts, "AbortHandle {{ task: {}, finished: false }}", aborted);
    shown!(name, finished, "JoinHandle {{ task: {}, finished: true }}", done);
    shown!(name, runtime, "Handle {{ flavor: multi_thread, runtime: 0 }}");
    locals! { "values::tasks::handles" =>
        set
    }
    here!("values::tasks::handles");
    sleep(FOREVER).await;
    used!(handle, aborts, set, runtime);
    let _ = (&mut finished).await;
}

/// The waker that a future is polled with.
async fn own_waker() -> Waker {
    poll_fn(|cx| Poll::Ready(cx.waker().clone())).await
}

/// Never ready, keeps its waker.
struct Keep(Arc<Mutex<Option<Waker>>>);

impl Future for Keep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        *self.0.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }
}

pub async fn wakers(id: oneshot::Receiver<u64>) {
    let name = "values::tasks::wakers";
    let own = own_waker().await;
    let id = id.await.unwrap();
    let kept = Arc::new(Mutex::new(None));
    let mut set = FuturesUnordered::new();
    set.push(Keep(kept.clone()));
    poll_fn(|cx| Poll::Ready(set.poll_next_unpin(cx).is_ready())).await;
    let inner = kept.lock().unwrap().take().unwrap();
    let noop = futures_util::task::noop_waker();
    let idle = Waker::noop().clone();
    let atomic = futures_util::task::AtomicWaker::new();
    atomic.register(&own);
    shown!(name, own, "Waker (task {})", id);
    shown!(name, inner, "Waker (a future of the FuturesUnordered in task {})", id);
    shown!(name, idle, "Waker (noop)");
    shown!(name, noop, "Waker (futures_task::noop_waker::noop_clone)");
    shown!(name, atomic, "AtomicWaker (task {})", id);
    here!("values::tasks::wakers");
    sleep(FOREVER).await;
    used!(own, inner, noop, idle, atomic, set);
}

pub async fn times() {
    let name = "values::tasks::times";
    let instant = std::time::Instant::now();
    let tokio_instant = Instant::now();
    let system = std::time::UNIX_EPOCH + Duration::new(86_400 * 366, 5_000_000);
    let every: Interval = interval(FOREVER);
    let pause: Sleep = sleep(FOREVER);
    locals! { "values::tasks::times" =>
        instant, tokio_instant
    }
    shown!(name, system, "1971-01-02T00:00:00.005000000Z");
    here!("values::tasks::times");
    sleep(FOREVER).await;
    used!(instant, tokio_instant, system, every, pause);
}
