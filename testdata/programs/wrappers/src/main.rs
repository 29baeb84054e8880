//! Futures that wrap one other: those of tokio and tracing, on top of each other too.

#[path = "../../instrumented/src/subscriber.rs"]
mod subscriber;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use tokio::task::unconstrained;
use tokio::time::{sleep, timeout};
use tracing::{info_span, Instrument, Span};
use truth::tree::{at, Node};
use truth::{here, Task, Truth, FOREVER};

tokio::task_local! {
    static REQUEST: u32;
}

async fn nap() {
    here!("wrappers::nap");
    sleep(FOREVER).await;
}

async fn limited() {
    here!("wrappers::limited");
    let _ = timeout(FOREVER, nap()).await;
}

async fn limited_twice() {
    here!("wrappers::limited_twice");
    let _ = timeout(FOREVER, Box::pin(timeout(FOREVER, limited()))).await;
}

async fn without_budget() {
    here!("wrappers::without_budget");
    unconstrained(nap()).await;
}

async fn with_budget() {
    here!("wrappers::with_budget");
    truth_tokio::cooperative(nap()).await;
}

async fn scoped() {
    here!("wrappers::scoped");
    REQUEST.scope(7, nap()).await;
}

async fn in_span(span: Span) {
    here!("wrappers::in_span");
    nap().instrument(span).await;
}

async fn in_all_of_them(span: Span) {
    let inner = REQUEST.scope(8, unconstrained(timeout(FOREVER, nap().instrument(span))));
    here!("wrappers::in_all_of_them");
    let _ = inner.await;
}

async fn in_box() {
    let inner: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(unconstrained(nap()));
    here!("wrappers::in_box");
    let _ = timeout(FOREVER, inner).await;
}

fn spawn<F>(future: F, tree: Node) -> Task
where
    F: Future + Send + 'static,
    F::Output: Debug + Send + 'static,
{
    Task::idle_tree(truth::id(&tokio::spawn(future)), tree)
}

/// A span and where it was made.
fn span() -> (Span, String) {
    let (span, line) = (info_span!("request", number = 1), line!());
    (span, format!("span request at {}:{}", file!(), line))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    subscriber::install();
    let (first, place) = span();
    let second = first.clone();
    let third = first.clone();
    let nap_node = || at("wrappers::nap");
    let in_limited = || at("wrappers::limited").then(nap_node());
    Truth::new("wrappers")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(spawn(limited(), in_limited()))
        .task(spawn(limited_twice(), at("wrappers::limited_twice").then(in_limited())))
        .task(spawn(without_budget(), at("wrappers::without_budget").then(nap_node())))
        .task(spawn(with_budget(), at("wrappers::with_budget").then(nap_node())))
        .task(spawn(scoped(), at("wrappers::scoped").then(nap_node())))
        .task(spawn(in_span(first), at("wrappers::in_span").then(nap_node().note(&place))))
        .task(spawn(
            in_all_of_them(second),
            at("wrappers::in_all_of_them").then(nap_node().note(&place)),
        ))
        .task(spawn(in_box(), at("wrappers::in_box").then(nap_node())))
        .task(spawn(unconstrained(nap()), nap_node()))
        .task(spawn(timeout(FOREVER, nap()), nap_node()))
        .task(spawn(REQUEST.scope(9, nap()), nap_node()))
        .task(spawn(nap().instrument(third), nap_node().note(&place)))
        .block_on(&["wrappers::main::{async_block#0}"])
        .publish();
    here!("wrappers::main::{async_block#0}");
    std::future::pending::<()>().await;
}
