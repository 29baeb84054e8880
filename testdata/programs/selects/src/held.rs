//! Futures that a frame has but does not poll.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use futures_util::future::poll_fn;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use truth::here;
use truth::tree::{at, fresh};
use truth::{Task, FOREVER};

use crate::{doze, nap, quick, spawn};

async fn stored() {
    let later = doze();
    here!("selects::held::stored");
    nap().await;
    let _ = later.await;
}

async fn boxed() {
    let mut later = vec![Box::pin(doze()), Box::pin(doze())];
    here!("selects::held::boxed");
    nap().await;
    for one in &mut later {
        let _ = one.as_mut().await;
    }
}

async fn behind_dyn() {
    let later: Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>> = Box::pin(doze());
    here!("selects::held::behind_dyn");
    nap().await;
    let _ = later.await;
}

/// The arm of a select! that another one was quicker than.
async fn loser() {
    let slow = doze();
    tokio::pin!(slow);
    tokio::select! {
        biased;
        _ = &mut slow => {}
        _ = quick() => {}
    }
    here!("selects::held::loser");
    nap().await;
    let _ = slow.await;
}

/// Something on the heap that refers to a future in the frame.
struct Indirect<'a, F> {
    inner: Box<Inner<'a, F>>,
}

struct Inner<'a, F> {
    polls: u32,
    future: &'a Mutex<F>,
}

impl<F: Future + Unpin> Future for Indirect<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.inner.polls += 1;
        Pin::new(&mut *self.inner.future.lock().unwrap()).poll(cx)
    }
}

/// What is polled by ways that others could take, too, is not said to be held.
async fn behind_struct() {
    let used = Mutex::new(Box::pin(async {
        here!("selects::held::behind_struct::{async_block#0}");
        sleep(FOREVER).await
    }));
    let unused = Mutex::new(Box::pin(doze()));
    here!("selects::held::behind_struct");
    Indirect { inner: Box::new(Inner { polls: 0, future: &used }) }.await;
    used.into_inner().unwrap().await;
    let _ = unused.into_inner().unwrap().await;
}

async fn behind_closure() {
    let mut used = Box::pin(async {
        here!("selects::held::behind_closure::{async_block#0}");
        sleep(FOREVER).await
    });
    let poll: Box<dyn FnMut(&mut Context<'_>) -> Poll<()> + Send + '_> =
        Box::new(|cx| used.as_mut().poll(cx));
    here!("selects::held::behind_closure");
    poll_fn(poll).await;
    used.await;
}

/// A variable that was moved from keeps its bits: here they are not what it holds.
async fn moved_away(handles: &Mutex<Vec<JoinHandle<()>>>, away: bool) {
    let later = Box::pin(elsewhere());
    if away {
        handles.lock().unwrap().push(tokio::spawn(later));
    }
    here!("selects::held::moved_away");
    nap().await;
}

async fn polled_and_moved(handles: &Mutex<Vec<JoinHandle<()>>>) {
    let mut later = Box::pin(elsewhere());
    poll_fn(|cx| Poll::Ready(later.as_mut().poll(cx).is_ready())).await;
    handles.lock().unwrap().push(tokio::spawn(later));
    here!("selects::held::polled_and_moved");
    nap().await;
}

async fn dropped(away: bool) {
    let later = doze();
    if away {
        drop(later);
    }
    here!("selects::held::dropped");
    nap().await;
}

async fn kept(away: bool) {
    let later = doze();
    if away {
        drop(later);
    }
    here!("selects::held::kept");
    nap().await;
}

async fn elsewhere() {
    here!("selects::held::elsewhere");
    sleep(FOREVER).await;
}

/// The tasks that hold no longer, and those that poll what they held.
fn spawn_moved() -> Vec<Task> {
    let handles: &'static Mutex<Vec<JoinHandle<()>>> = Box::leak(Box::default());
    let mut tasks = vec![
        spawn(moved_away(handles, true), at("selects::held::moved_away").then(at("selects::nap"))),
        spawn(
            polled_and_moved(handles),
            at("selects::held::polled_and_moved").then(at("selects::nap")),
        ),
        spawn(dropped(true), at("selects::held::dropped").then(at("selects::nap"))),
        spawn(
            kept(false),
            at("selects::held::kept").then(at("selects::nap")).held(fresh("selects::doze")),
        ),
    ];
    while handles.lock().unwrap().len() < 2 {
        std::thread::yield_now();
    }
    for handle in handles.lock().unwrap().iter() {
        tasks.push(Task::idle(truth::id(handle), &["selects::held::elsewhere"]));
    }
    tasks
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let mut tasks = spawn_moved();
    tasks.extend([
        spawn(
            stored(),
            at("selects::held::stored").then(at("selects::nap")).held(fresh("selects::doze")),
        ),
        spawn(
            boxed(),
            at("selects::held::boxed")
                .then(at("selects::nap"))
                .held(fresh("selects::doze").times(2)),
        ),
        spawn(
            behind_dyn(),
            at("selects::held::behind_dyn").then(at("selects::nap")).held(fresh("selects::doze")),
        ),
        spawn(
            loser(),
            at("selects::held::loser").then(at("selects::nap")).held(at("selects::doze")),
        ),
        spawn(
            behind_struct(),
            at("selects::held::behind_struct")
                .polls(at("selects::held::behind_struct::{async_block#0}"))
                .held(fresh("selects::doze")),
        ),
        spawn(
            behind_closure(),
            at("selects::held::behind_closure")
                .polls(at("selects::held::behind_closure::{async_block#0}")),
        ),
    ]);
    tasks
}
