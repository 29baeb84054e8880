//! Tasks of the crate async-task that a thread of the program's own runs, from a channel.

use std::future::{poll_fn, Future};
use std::sync::mpsc;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::thread;

use async_task::{Runnable, Task};
use truth::{here, Truth};

static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

/// Nobody wakes it, but its waker is kept.
async fn asleep() {
    poll_fn(|cx| {
        WAKERS.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
    .await
}

async fn waits() {
    here!("task_queue::waits");
    asleep().await;
}

async fn joins(other: Task<()>) {
    here!("task_queue::joins");
    other.await;
}

fn main() {
    let (sender, receiver) = mpsc::channel::<Runnable>();
    let spawn = |future: Box<dyn Future<Output = ()> + Send>| {
        let sender = sender.clone();
        let schedule = move |runnable| drop(sender.send(runnable));
        let (runnable, task) = async_task::spawn(Box::into_pin(future), schedule);
        runnable.schedule();
        task
    };
    spawn(Box::new(waits())).detach();
    let joined = spawn(Box::new(waits()));
    spawn(Box::new(joins(joined))).detach();
    let runs = move || {
        for runnable in receiver {
            runnable.run();
        }
    };
    thread::Builder::new().name("runs".to_string()).spawn(runs).unwrap();
    Truth::new("task_queue").passes("task_queue::waits").passes("task_queue::joins").publish();
    loop {
        thread::park();
    }
}
