//! LocalSets on plain threads: one that the thread has entered, one in a variable of it, and one
//! whose task others await.

use std::sync::mpsc::Sender;
use std::thread;

use tokio::runtime::Handle;
use tokio::task::{spawn_local, yield_now, JoinHandle, LocalSet};
use tokio::time::sleep;
use truth::{here, Task, FOREVER};

async fn local_nap() {
    here!("hidden::sets::local_nap");
    sleep(FOREVER).await;
}

async fn join_local(task: JoinHandle<()>) {
    here!("hidden::sets::join_local");
    let _ = task.await;
}

fn told(task: &JoinHandle<()>) -> Task {
    Task::idle(truth::id(task), &["hidden::sets::local_nap"]).sleeps().local()
}

async fn a_moment() {
    yield_now().await;
    yield_now().await;
}

/// Threads that drive a set by the first runtime for a moment, and keep it.
pub fn start(tell: Sender<Vec<Task>>, handle: Handle) {
    let copies = [tell.clone(), tell];
    let handles = [handle.clone(), handle];
    let [entered, awaited] = copies;
    let [first, second] = handles;
    thread::spawn(move || {
        let set = LocalSet::new();
        first.block_on(set.run_until(a_moment()));
        let guard = set.enter();
        let task = spawn_local(local_nap());
        drop(guard);
        first.block_on(set.run_until(a_moment()));
        let guard = set.enter();
        entered.send(vec![told(&task)]).expect("main is gone");
        drop(entered);
        loop {
            thread::park();
            truth::used!(guard);
        }
    });
    thread::spawn(move || {
        let set = LocalSet::new();
        let task = set.spawn_local(local_nap());
        second.block_on(set.run_until(a_moment()));
        let row = told(&task);
        let local = truth::id(&task);
        let join = second.spawn(join_local(task));
        let joins = Task::idle(truth::id(&join), &["hidden::sets::join_local"]).joins(local);
        awaited.send(vec![row, joins]).expect("main is gone");
        drop(awaited);
        loop {
            thread::park();
            truth::used!(set);
        }
    });
}
