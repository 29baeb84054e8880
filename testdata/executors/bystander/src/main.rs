//! A tokio runtime with two tasks beside what looks like another executor and is none: one of smol
//! that ran its task to the end and has no thread, a job of tokio's blocking pool that drives a
//! future by `block_on` of futures, a thread that hands futures over to tokio, one that has only a
//! handle of the runtime, and one that polls a future in which no other is.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

use smol::Executor;
use tokio::runtime::Handle;
use truth::{here, Truth};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

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

fn spawn_and_wait(handle: Handle, job: impl Future<Output = ()> + Send + 'static) {
    handle.spawn(job);
    loop {
        thread::park();
    }
}

/// Wakes others when their time has come, as the thread of a crate of timers does.
struct Timers {
    due: Vec<(u64, Waker)>,
}

impl Future for Timers {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.due.drain(..).for_each(|(_, waker)| waker.wake());
        Poll::Pending
    }
}

fn keep_time(mut timers: Timers) {
    let mut cx = Context::from_waker(Waker::noop());
    while Pin::new(&mut timers).poll(&mut cx).is_pending() {
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
    thread::spawn(|| keep_time(Timers { due: vec![(1, Waker::noop().clone())] }));
    loop {
        thread::park();
    }
}
