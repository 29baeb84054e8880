//! A supervisor that waits for whichever of its tasks ends first.

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use truth::tree::at;
use truth::{here, leak, Task, Wait};

use crate::spawn;

async fn work(order: oneshot::Receiver<u32>) -> u32 {
    here!("situations::supervisor::work");
    order.await.unwrap_or(0)
}

async fn supervise(mut workers: JoinSet<u32>) {
    loop {
        here!("situations::supervisor::supervise");
        if workers.join_next().await.is_none() {
            break;
        }
    }
}

pub fn spawn_all() -> Vec<Task> {
    let mut workers = JoinSet::new();
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let (sender, order) = oneshot::channel();
        leak(sender);
        let worker = workers.spawn(work(order));
        let waits = Wait::new("oneshot").with("sender_alive", true).with("value_there", false);
        tasks.push(Task::idle(truth::id(&worker), &["situations::supervisor::work"]).waits(waits));
    }
    let tree = at("situations::supervisor::supervise");
    tasks.push(spawn(supervise(workers), tree).beside(Wait::new("join_set")));
    tasks
}
