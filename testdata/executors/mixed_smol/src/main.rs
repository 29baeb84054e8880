//! A tokio runtime with two tasks, and smol's executor with one.

use std::future;
use std::thread;

use truth::{here, Truth};

async fn on_tokio() {
    here!("mixed_smol::on_tokio");
    tokio::time::sleep(truth::FOREVER).await;
}

async fn on_smol() {
    here!("mixed_smol::on_smol");
    future::pending::<()>().await
}

fn main() {
    Truth::new("mixed_smol").passes("mixed_smol::on_tokio").passes("mixed_smol::on_smol").publish();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.spawn(on_tokio());
    runtime.spawn(on_tokio());
    smol::spawn(on_smol()).detach();
    loop {
        thread::park();
    }
}
