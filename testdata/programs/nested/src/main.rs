//! Async functions inside each other: generic ones, methods, several modules, recursion.

mod deep;
mod shop;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::{oneshot, Notify};
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

use shop::{Shop, Till};

async fn first(name: String) -> usize {
    here!("nested::first");
    second(name.as_str()).await
}

async fn second(name: &str) -> usize {
    here!("nested::second");
    third((name.len(), 'x')).await.0
}

async fn third<T: Clone + Send + Sync>(value: T) -> T {
    here!("nested::third");
    deep::fourth(value.clone()).await;
    value
}

async fn sell(till: Till<u64>, closing: Arc<Notify>) {
    let shop = Shop { till, closing };
    here!("nested::sell");
    shop.sell(3).await;
}

type Boxed = Pin<Box<dyn Future<Output = u32> + Send>>;

fn descend_boxed(depth: u32, end: oneshot::Receiver<u32>) -> Boxed {
    Box::pin(descend(depth, end))
}

/// Recursion through a function that boxes an async fn.
async fn descend(depth: u32, end: oneshot::Receiver<u32>) -> u32 {
    if depth == 0 {
        here!("nested::descend bottom");
        return end.await.unwrap_or(0);
    }
    here!("nested::descend");
    descend_boxed(depth - 1, end).await + 1
}

/// Recursion through async blocks.
fn dig(depth: u32) -> Boxed {
    Box::pin(async move {
        if depth == 0 {
            here!("nested::dig::{async_block#0} bottom");
            sleep(FOREVER).await;
            return 0;
        }
        here!("nested::dig::{async_block#0}");
        dig(depth - 1).await + 1
    })
}

trait Service {
    fn call(&self, request: u32) -> Boxed;
}

struct Echo;

impl Service for Echo {
    fn call(&self, request: u32) -> Boxed {
        Box::pin(async move {
            here!("<nested::Echo as nested::Service>::call::{async_block#0}");
            sleep(FOREVER).await;
            request
        })
    }
}

struct Doubled<S>(S);

impl<S: Service + Send + Sync + 'static> Service for Doubled<S> {
    fn call(&self, request: u32) -> Boxed {
        let inner = self.0.call(request);
        Box::pin(async move {
            here!("<nested::Doubled as nested::Service>::call::{async_block#0}");
            inner.await * 2
        })
    }
}

async fn serve<S: Service>(service: S, request: u32) -> u32 {
    here!("nested::serve");
    service.call(request).await
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let closing = Arc::new(Notify::new());
    let (sender, receiver) = oneshot::channel();
    let functions = tokio::spawn(first("one".to_string()));
    let methods = tokio::spawn(sell(Till { content: 1 }, closing.clone()));
    let recursion = tokio::spawn(descend(4, receiver));
    let blocks = tokio::spawn(dig(5));
    let echo = tokio::spawn(serve(Echo, 1));
    let doubled = tokio::spawn(serve(Doubled(Doubled(Echo)), 1));
    Truth::new("nested")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(
            Task::idle(
                truth::id(&functions),
                &[
                    "nested::first",
                    "nested::second",
                    "nested::third",
                    "nested::deep::fourth",
                    "nested::deep::deeper::fifth",
                ],
            )
            .sleeps(),
        )
        .task(Task::idle(
            truth::id(&methods),
            &[
                "nested::sell",
                "nested::shop::Shop::sell",
                "nested::shop::Till::charge",
                "<nested::shop::Till as nested::shop::Settle>::settle::{async_block#0}",
            ],
        ))
        .task(Task::idle(
            truth::id(&recursion),
            &[
                "nested::descend",
                "nested::descend",
                "nested::descend",
                "nested::descend",
                "nested::descend bottom",
            ],
        ))
        .task(
            Task::idle(
                truth::id(&blocks),
                &[
                    "nested::dig::{async_block#0}",
                    "nested::dig::{async_block#0}",
                    "nested::dig::{async_block#0}",
                    "nested::dig::{async_block#0}",
                    "nested::dig::{async_block#0}",
                    "nested::dig::{async_block#0} bottom",
                ],
            )
            .sleeps(),
        )
        .task(
            Task::idle(
                truth::id(&echo),
                &["nested::serve", "<nested::Echo as nested::Service>::call::{async_block#0}"],
            )
            .sleeps(),
        )
        .task(
            Task::idle(
                truth::id(&doubled),
                &[
                    "nested::serve",
                    "<nested::Doubled as nested::Service>::call::{async_block#0}",
                    "<nested::Doubled as nested::Service>::call::{async_block#0}",
                    "<nested::Echo as nested::Service>::call::{async_block#0}",
                ],
            )
            .sleeps(),
        )
        .block_on(&["nested::main::{async_block#0}"])
        .publish();
    here!("nested::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(sender);
    closing.notify_one();
}
