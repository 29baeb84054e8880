//! Jobs of blocking pools that wait for jobs in the queue of their pool: in one pool nobody is left
//! to run these, in another a thread will be.

use std::sync::{mpsc, Arc, Barrier};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{spawn_blocking, JoinHandle};
use truth::graph::{Graph, Node};
use truth::{here, quiet, Task, Truth, Wait};

/// The id of a queued job, and the thread of the job that waits for it.
type Report = mpsc::Sender<(Option<u64>, u32)>;

async fn nested(job: JoinHandle<()>) {
    here!("pools::nested");
    let _ = job.await;
}

/// Both threads of a pool may run this at the same time: `all` has seen both.
fn start_nested(all: &Arc<Barrier>, report: &Report) -> JoinHandle<()> {
    let all = all.clone();
    let report = report.clone();
    spawn_blocking(move || {
        all.wait();
        let inner = spawn_blocking(|| ());
        let _ = report.send((truth::id(&inner), quiet::own_tid()));
        Handle::current().block_on(nested(inner));
    })
}

/// Holds a thread of the pool until the gate opens.
fn start_busy(all: &Arc<Barrier>, gate: mpsc::Receiver<()>) -> JoinHandle<()> {
    let all = all.clone();
    spawn_blocking(move || {
        all.wait();
        let _ = gate.recv();
    })
}

async fn wait_for(job: JoinHandle<()>) {
    here!("pools::wait_for");
    let _ = job.await;
}

fn start_runtime() -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(2)
        .enable_all()
        .build()
        .expect("cannot start a runtime");
    // A worker begins as a job of the blocking pool.
    runtime.block_on(async { tokio::spawn(async {}).await }).expect("no worker");
    runtime
}

const NESTED: &str = "pools::start_nested::{closure#0}";
const BUSY: &str = "pools::start_busy::{closure#0}";

fn main() {
    let (stuck, healthy) = (start_runtime(), start_runtime());
    let (report, reported) = mpsc::channel();
    let all = Arc::new(Barrier::new(2));
    let mut tasks = Vec::new();
    let mut graph = Graph::new();
    let mut wait_in = |runtime: &Runtime, number: usize, job: JoinHandle<()>| {
        let id = truth::id(&job);
        let waiter = runtime.spawn(wait_for(job));
        let task = Task::idle(truth::id(&waiter), &["pools::wait_for"]).on(number);
        tasks.push(task.waits(Wait::new("join").with("task", id)));
        Node::task(truth::id(&waiter))
    };

    let entered = stuck.enter();
    let jobs = [start_nested(&all, &report), start_nested(&all, &report)];
    drop(entered);
    let mut members = Vec::new();
    for _ in 0..2 {
        let (queued, tid) = reported.recv().expect("a job is gone");
        let (queued, thread) = (Node::task(queued), Node::thread(tid));
        graph.waits(thread, "join", None, &[queued]);
        members.extend([queued, thread]);
    }
    for queued in [members[0], members[2]] {
        graph.waits(queued, "blocking_pool", None, &[members[1], members[3]]);
    }
    graph.deadlock(&members);
    for job in jobs {
        let waiter = wait_in(&stuck, 0, job);
        graph.behind(waiter);
    }

    let (open, gate) = mpsc::channel();
    let entered = healthy.enter();
    let jobs = [start_nested(&all, &report), start_busy(&all, gate)];
    drop(entered);
    let (queued, tid) = reported.recv().expect("a job is gone");
    graph.waits(Node::thread(tid), "join", None, &[Node::task(queued)]);
    for job in jobs {
        wait_in(&healthy, 1, job);
    }

    Truth::new("pools")
        .runtime(truth_tokio::describe(stuck.handle(), "multi_thread", 1))
        .runtime(truth_tokio::describe(healthy.handle(), "multi_thread", 1))
        .tasks(tasks)
        .graph(graph)
        .blocking_on(NESTED)
        .blocking_on(NESTED)
        .blocking_on(NESTED)
        .block_on(&["pools::nested"])
        .block_on(&["pools::nested"])
        .block_on(&["pools::nested"])
        .blocking(BUSY)
        .publish();
    loop {
        std::thread::park();
        drop(open.clone());
    }
}
