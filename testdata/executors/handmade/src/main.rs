//! An executor of the program's own: tasks come through a channel to the thread that polls them.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::task::Context;

use futures::task::{self, ArcWake};
use truth::{here, Truth};

struct Task {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    queue: SyncSender<Arc<Task>>,
}

impl ArcWake for Task {
    fn wake_by_ref(task: &Arc<Task>) {
        let _ = task.queue.send(task.clone());
    }
}

fn run(queue: Receiver<Arc<Task>>) {
    while let Ok(task) = queue.recv() {
        let mut slot = task.future.lock().unwrap();
        if let Some(mut future) = slot.take() {
            let waker = task::waker_ref(&task);
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                *slot = Some(future);
            }
        }
    }
}

async fn wait_for_good() {
    here!("handmade::wait_for_good");
    future::pending::<()>().await
}

fn main() {
    Truth::new("handmade").passes("handmade::wait_for_good").publish();
    let (queue, tasks) = mpsc::sync_channel(16);
    let future = Mutex::new(Some(Box::pin(wait_for_good()) as _));
    let task = Arc::new(Task { future, queue: queue.clone() });
    queue.send(task).unwrap();
    run(tasks);
}
