//! A tokio runtime with two tasks beside what looks like another executor and is none: one of smol
//! that ran its task to the end and has no thread, a job of tokio's blocking pool that drives a
//! future by `block_on` of futures, a thread that hands futures over to tokio, and one that has only
//! a handle of the runtime.

use std::future;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread;

use smol::Executor;
use tokio::runtime::Handle;
use truth::{here, Truth};

type Job = Pin<Box<dyn future::Future<Output = ()> + Send>>;

async fn on_tokio() {
    here!("bystander::on_tokio");
    tokio::time::sleep(truth::FOREVER).await;
}

async fn in_job() {
    here!("bystander::in_job");
    future::pending::<()>().await
}

fn drive_in_job() {
    futures::executor::block_on(in_job());
}

fn wait_with_handle(handle: Handle, wait: mpsc::Receiver<u64>) {
    handle.spawn(on_tokio());
    let _ = wait.recv();
    handle.spawn(on_tokio());
}

fn spawn_and_wait(handle: Handle, job: impl future::Future<Output = ()> + Send + 'static) {
    handle.spawn(job);
    loop {
        thread::park();
    }
}

fn main() {
    Truth::new("bystander").passes("bystander::on_tokio").passes("bystander::in_job").publish();
    let executor = Executor::new();
    executor.spawn(async { 1 }).detach();
    while executor.try_tick() {}
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.spawn_blocking(drive_in_job);
    let (_sender, receiver) = mpsc::channel();
    let handle = runtime.handle().clone();
    thread::spawn(move || wait_with_handle(handle, receiver));
    let handle = runtime.handle().clone();
    let job: Job = Box::pin(on_tokio());
    thread::spawn(move || spawn_and_wait(handle, job));
    loop {
        thread::park();
    }
}
