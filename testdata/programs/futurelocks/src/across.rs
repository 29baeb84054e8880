//! A future that one task does not poll stands in the way of other tasks: it is ahead of them in a
//! queue, or was given what they wait for.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::poll_immediate;
use tokio::sync::{mpsc, oneshot, Mutex, Semaphore};
use tokio::time::sleep;
use truth::graph::{address, Node};
use truth::tree::at;
use truth::{here, leak, Task, Wait, FOREVER};

use crate::{hold, lock, passed, spawn_hold, Tasks};

const SHORT: Duration = Duration::from_millis(20);

/// Polls a future once, so that it queues, and then waits for something else.
async fn keep<F: Future<Output = ()>>(future: F, other: impl Future) {
    let mut first = future;
    // It is not moved any more.
    let pinned = unsafe { Pin::new_unchecked(&mut first) };
    assert!(poll_immediate(pinned).await.is_none());
    here!("futurelocks::across::keep");
    other.await;
}

/// Something that only the owner of this can end.
type End = Option<oneshot::Sender<()>>;

async fn add(lock: &'static Mutex<u32>, _end: End) {
    here!("futurelocks::across::add");
    *lock.lock().await += 1;
}

async fn acquire(semaphore: &'static Semaphore, _end: End) {
    here!("futurelocks::across::acquire");
    let _ = semaphore.acquire().await;
}

async fn send(sender: mpsc::Sender<u32>, _end: End) {
    here!("futurelocks::across::send");
    let _ = sender.send(1).await;
}

async fn receive_later(mut receiver: mpsc::Receiver<u32>) {
    here!("futurelocks::across::receive_later");
    sleep(FOREVER).await;
    receiver.recv().await;
}

/// One task that keeps a future, and two that queue behind it.
struct Row {
    keeper: Node,
    /// Whether the keeper waits for the first of the two.
    stuck: bool,
    end: End,
    /// The task of the keeper, without what its future waits for.
    task: Task,
}

impl Row {
    async fn start<F>(name: &'static str, future: F, stuck: bool) -> Row
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let before = truth::visits("futurelocks::across::keep");
        let (end, ended) = oneshot::channel();
        let (handle, keeper) = if stuck {
            Tasks::start(keep(future, ended))
        } else {
            Tasks::start(keep(future, sleep(FOREVER)))
        };
        passed("futurelocks::across::keep", before + 1).await;
        let tree = at("futurelocks::across::keep").held(at(name));
        let task = Task::idle_tree(truth::id(&handle), tree);
        Row { keeper, stuck, end: stuck.then_some(end), task }
    }

    /// Starts the two, both of which wait like this, and says what is true of all three.
    async fn finish<F>(
        mut self,
        tasks: &mut Tasks,
        (name, kind): (&'static str, &'static str),
        granted: bool,
        make: impl Fn(End) -> F,
    ) -> [Node; 2]
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut ids = Vec::new();
        for _ in 0..2 {
            let before = truth::visits(name);
            let (handle, _) = Tasks::start(make(self.end.take()));
            tasks.describe(&handle, name, Wait::new(kind).with("granted", false));
            passed(name, before + 1).await;
            // The next one is behind it.
            sleep(SHORT).await;
            ids.push(truth::id(&handle));
        }
        let nodes = [Node::task(ids[0]), Node::task(ids[1])];
        let held = Wait::new(kind).with("granted", granted).with("behind", 2);
        tasks.tasks.push(self.task.beside(held.with("tasks_behind", ids)));
        if self.stuck {
            tasks.graph.futurelock(self.keeper, None, granted);
            nodes.iter().for_each(|node| tasks.graph.behind(*node));
        }
        nodes
    }
}

async fn mutex(tasks: &mut Tasks, granted: bool, stuck: bool) {
    let of = lock();
    let holder = if granted { None } else { Some(spawn_hold(tasks, of).await) };
    let guard = if granted { Some(of.lock().await) } else { None };
    let row = Row::start("futurelocks::across::add", add(of, None), stuck).await;
    let by = [holder.unwrap_or(row.keeper)];
    drop(guard);
    let names = ("futurelocks::across::add", "mutex");
    for node in row.finish(tasks, names, granted, |end| add(of, end)).await {
        tasks.graph.waits(node, "mutex", address(of), &by);
    }
}

async fn semaphore(tasks: &mut Tasks, granted: bool, stuck: bool) {
    let of: &'static Semaphore = leak(Semaphore::new(1));
    let permit = of.acquire().await.expect("it is closed");
    let row = Row::start("futurelocks::across::acquire", acquire(of, None), stuck).await;
    let holder = if granted {
        drop(permit);
        row.keeper
    } else {
        let (handle, node) = Tasks::start(hold(permit));
        tasks.tasks.push(Task::idle(truth::id(&handle), &["futurelocks::hold"]).sleeps());
        node
    };
    let names = ("futurelocks::across::acquire", "semaphore");
    for node in row.finish(tasks, names, granted, |end| acquire(of, end)).await {
        tasks.graph.waits(node, "semaphore", address(of), &[holder]);
    }
}

async fn channel(tasks: &mut Tasks, granted: bool, stuck: bool) {
    let (sender, mut receiver) = mpsc::channel(1);
    sender.try_send(0).expect("it is full");
    let first = send(sender.clone(), None);
    let row = Row::start("futurelocks::across::send", first, stuck).await;
    if granted {
        receiver.recv().await;
    }
    let (handle, _) = Tasks::start(receive_later(receiver));
    let task = Task::idle(truth::id(&handle), &["futurelocks::across::receive_later"]);
    tasks.tasks.push(task.sleeps());
    let names = ("futurelocks::across::send", "mpsc_send");
    row.finish(tasks, names, granted, |end| send(sender.clone(), end)).await;
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    for granted in [true, false] {
        for stuck in [true, false] {
            mutex(tasks, granted, stuck).await;
            semaphore(tasks, granted, stuck).await;
            channel(tasks, granted, stuck).await;
        }
    }
}
