//! Jobs of the blocking pool that wait for tasks that wait for them.

use std::sync::mpsc;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use truth::graph::{address, Node};
use truth::{declares, here, quiet, Wait};

use crate::{lock, Lock, Tasks};

async fn add(total: &'static Lock) {
    here!("deadlocks::jobs::add");
    *total.lock().await += 1;
}

/// Says what it is: the job's id and its thread.
type Report = mpsc::Sender<(Option<u64>, u32)>;

/// Waits for a job that needs what it holds.
async fn compute(total: &'static Lock, report: Report) {
    declares!("deadlocks::jobs::compute guard");
    let guard = total.lock().await;
    let (tid, thread) = mpsc::channel();
    let job = spawn_blocking(move || start(tid, total));
    let _ = report.send((truth::id(&job), thread.recv().expect("no job")));
    drop((report, thread));
    here!("deadlocks::jobs::compute");
    let _ = job.await;
    drop(guard);
}

fn start(tid: mpsc::Sender<u32>, total: &'static Lock) {
    let _ = tid.send(quiet::own_tid());
    Handle::current().block_on(add(total));
}

pub(crate) const JOB: &str = "deadlocks::jobs::compute::{closure#0}";

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let total = lock();
    let (report, reported) = mpsc::channel();
    let (handle, task) = Tasks::start(compute(total, report));
    let (job, tid) = reported.recv().expect("the task is gone");
    let wait = Wait::new("join").with("task", job);
    tasks.describe(&handle, "deadlocks::jobs::compute", wait);
    let job = Node::thread(tid);
    tasks.graph.waits(job, "mutex", address(total), &[task]);
    tasks.graph.waits(task, "join", None, &[job]);
    tasks.graph.deadlock(&[task, job]);
}
