//! A tokio runtime with two tasks, and a `ThreadPool` of futures that is idle: its task waits.

use std::future;
use std::thread;

use futures::executor::ThreadPool;
use futures::task::SpawnExt;
use truth::{here, Truth};

async fn on_tokio() {
    here!("mixed_pool::on_tokio");
    tokio::time::sleep(truth::FOREVER).await;
}

async fn in_thread_pool() {
    here!("mixed_pool::in_thread_pool");
    future::pending::<()>().await
}

fn main() {
    Truth::new("mixed_pool")
        .passes("mixed_pool::on_tokio")
        .passes("mixed_pool::in_thread_pool")
        .publish();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.spawn(on_tokio());
    runtime.spawn(on_tokio());
    let threads = ThreadPool::builder().pool_size(1).create().unwrap();
    threads.spawn(in_thread_pool()).unwrap();
    loop {
        thread::park();
    }
}
