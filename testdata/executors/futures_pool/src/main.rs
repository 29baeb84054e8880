//! The executors of futures: a `LocalPool` that a thread runs, and a `ThreadPool` whose task waits.

use std::future;

use futures::executor::{LocalPool, ThreadPool};
use futures::task::{LocalSpawnExt, SpawnExt};
use truth::{here, Truth};

async fn wait_in_local_pool() {
    here!("futures_pool::wait_in_local_pool");
    future::pending::<()>().await
}

async fn wait_in_thread_pool() {
    here!("futures_pool::wait_in_thread_pool");
    future::pending::<()>().await
}

fn main() {
    Truth::new("futures_pool")
        .passes("futures_pool::wait_in_local_pool")
        .passes("futures_pool::wait_in_thread_pool")
        .publish();
    let threads = ThreadPool::builder().pool_size(1).create().unwrap();
    threads.spawn(wait_in_thread_pool()).unwrap();
    let mut local = LocalPool::new();
    local.spawner().spawn_local(wait_in_local_pool()).unwrap();
    local.run();
}
