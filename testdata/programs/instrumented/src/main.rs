//! Futures inside spans of the tracing crate: as roots of tasks and as what is awaited.

mod subscriber;

use std::future::Future;
use std::pin::Pin;

use tokio::time::sleep;
use tracing::{info_span, Instrument};
use truth::{here, Task, Truth, FOREVER};

async fn serve(request: u32) -> u32 {
    here!("instrumented::serve");
    sleep(FOREVER).await;
    request
}

async fn route(request: u32) -> u32 {
    here!("instrumented::route");
    serve(request).instrument(info_span!("serve", request)).await
}

async fn boxed(request: u32) -> u32 {
    let future: Pin<Box<dyn Future<Output = u32> + Send>> =
        Box::pin(serve(request).instrument(info_span!("boxed")));
    here!("instrumented::boxed");
    future.await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    subscriber::install();
    let root = tokio::spawn(serve(1).instrument(info_span!("request", id = 1)));
    let twice = tokio::spawn(
        serve(2).instrument(info_span!("inner")).instrument(info_span!("outer", id = 2)),
    );
    let both = tokio::spawn(route(3).instrument(info_span!("request", id = 3)));
    let child = tokio::spawn(route(4));
    let boxed = tokio::spawn(boxed(5));
    let disabled = tokio::spawn(serve(6).instrument(tracing::Span::none()));
    Truth::new("instrumented")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(Task::idle(truth::id(&root), &["instrumented::serve"]).sleeps())
        .task(Task::idle(truth::id(&twice), &["instrumented::serve"]).sleeps())
        .task(
            Task::idle(truth::id(&both), &["instrumented::route", "instrumented::serve"]).sleeps(),
        )
        .task(
            Task::idle(truth::id(&child), &["instrumented::route", "instrumented::serve"]).sleeps(),
        )
        .task(
            Task::idle(truth::id(&boxed), &["instrumented::boxed", "instrumented::serve"]).sleeps(),
        )
        .task(Task::idle(truth::id(&disabled), &["instrumented::serve"]).sleeps())
        .block_on(&["instrumented::main::{async_block#0}"])
        .publish();
    here!("instrumented::main::{async_block#0}");
    std::future::pending::<()>().await;
}
