//! A tokio runtime with two tasks, and a thread that runs a `LocalPool` of futures.

use std::future;
use std::thread;

use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use truth::{here, Truth};

async fn on_tokio() {
    here!("mixed_local::on_tokio");
    tokio::time::sleep(truth::FOREVER).await;
}

async fn in_local_pool() {
    here!("mixed_local::in_local_pool");
    future::pending::<()>().await
}

fn run_local_pool() {
    let mut local = LocalPool::new();
    local.spawner().spawn_local(in_local_pool()).unwrap();
    local.run();
}

fn main() {
    Truth::new("mixed_local")
        .passes("mixed_local::on_tokio")
        .passes("mixed_local::in_local_pool")
        .publish();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.spawn(on_tokio());
    runtime.spawn(on_tokio());
    thread::spawn(run_local_pool);
    loop {
        thread::park();
    }
}
