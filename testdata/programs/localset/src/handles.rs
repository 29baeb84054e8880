//! Tasks that others have a handle of.

use std::sync::Mutex;

use tokio::task::JoinSet;
use truth::{here, Task};

use crate::nap;

static GONE: Mutex<Vec<Option<u64>>> = Mutex::new(Vec::new());

/// Tasks that have ended.
pub(crate) fn gone() -> Vec<Option<u64>> {
    std::mem::take(&mut GONE.lock().unwrap())
}

async fn quick() {}

fn set_of_naps() -> (JoinSet<()>, Vec<Task>) {
    let mut set = JoinSet::new();
    let ids = [set.spawn(nap()), set.spawn(nap())].map(|handle| truth::id(&handle));
    (set, vec![Task::all_idle(ids.to_vec(), &["localset::nap"]).sleeps()])
}

async fn join(mut set: JoinSet<()>) {
    here!("localset::handles::join");
    while set.join_next().await.is_some() {}
}

/// Has tasks that have ended, but does not ask for them.
async fn hold(mut set: JoinSet<()>) {
    here!("localset::handles::hold");
    nap().await;
    while set.join_next().await.is_some() {}
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let (first, mut tasks) = set_of_naps();
    let (mut second, more) = set_of_naps();
    tasks.extend(more);
    let quick = second.spawn(quick());
    let aborted = second.spawn(nap());
    aborted.abort();
    GONE.lock().unwrap().extend([truth::id(&quick), truth::id(&aborted)]);
    let joined = tokio::spawn(join(first));
    let held = tokio::spawn(hold(second));
    tasks.push(Task::idle(truth::id(&joined), &["localset::handles::join"]));
    let chain = ["localset::handles::hold", "localset::nap"];
    tasks.push(Task::idle(truth::id(&held), &chain).sleeps());
    // What an AbortHandle belongs to lives on without a JoinHandle.
    let mut detached = JoinSet::new();
    let handle = Box::leak(Box::new(detached.spawn(nap())));
    detached.detach_all();
    tasks.push(Task::idle(truth::id(handle), &["localset::nap"]).sleeps());
    tasks
}
