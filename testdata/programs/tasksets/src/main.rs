//! Tasks that wait for others: in a `JoinSet`, and for jobs of a blocking pool that is full.

use std::collections::HashSet;
use std::sync::{mpsc, Arc, Mutex};
use std::thread::{self, ThreadId};

use tokio::runtime::Builder;
use tokio::task::{spawn_blocking, yield_now, JoinHandle, JoinSet};
use tokio::time::sleep;
use truth::{here, tree, Task, Truth, Wait, FOREVER};

async fn nap() {
    here!("tasksets::nap");
    sleep(FOREVER).await;
}

async fn short() {}

/// Three tasks that sleep and two that end and are joined.
async fn join_some(report: mpsc::Sender<Vec<Option<u64>>>) {
    let mut set = JoinSet::new();
    let ids = (0..3).map(|_| truth::id(&set.spawn(nap()))).collect();
    for _ in 0..2 {
        set.spawn(short());
    }
    let mut joined = 0;
    while joined < 2 {
        set.join_next().await;
        joined += 1;
    }
    let _ = report.send(ids);
    here!("tasksets::join_some");
    set.join_next().await;
}

/// Its set is dropped at its end, and never awaited.
async fn keep(report: mpsc::Sender<Vec<Option<u64>>>) {
    let mut set = JoinSet::new();
    let ids = (0..2).map(|_| truth::id(&set.spawn(nap()))).collect();
    let _ = report.send(ids);
    here!("tasksets::keep");
    sleep(FOREVER).await;
    drop(set);
}

/// Its set was in another variable before.
async fn keep_moved(report: mpsc::Sender<Vec<Option<u64>>>) {
    let mut set = JoinSet::new();
    let ids = vec![truth::id(&set.spawn(nap()))];
    let moved = std::hint::black_box(set);
    let _ = report.send(ids);
    here!("tasksets::keep_moved");
    sleep(FOREVER).await;
    drop(moved);
}

struct Workers {
    name: &'static str,
    by_number: std::collections::BTreeMap<u32, Crew>,
}

struct Crew {
    size: usize,
    tasks: JoinSet<()>,
}

fn crew(ids: &mut Vec<Option<u64>>) -> Crew {
    let mut tasks = JoinSet::new();
    ids.push(truth::id(&tasks.spawn(nap())));
    Crew { size: 1, tasks }
}

/// Its sets are in structs of the program, one in a map, one behind a pointer.
async fn keep_in_structs(report: mpsc::Sender<Vec<Option<u64>>>) {
    let mut ids = Vec::new();
    let other = Box::new(Some(crew(&mut ids)));
    let mut workers = Workers { name: "workers", by_number: Default::default() };
    workers.by_number.insert(1, crew(&mut ids));
    let _ = report.send(ids);
    here!("tasksets::keep_in_structs");
    sleep(FOREVER).await;
    drop((workers.name, workers.by_number.remove(&1).map(|crew| (crew.size, crew.tasks))));
    drop(other.map(|crew| (crew.size, crew.tasks)));
}

/// Never polled, and given a set.
async fn given(set: JoinSet<()>) {
    drop(set);
}

fn set_of_one(report: mpsc::Sender<Vec<Option<u64>>>) -> JoinSet<()> {
    let mut set = JoinSet::new();
    let _ = report.send(vec![truth::id(&set.spawn(nap()))]);
    set
}

async fn keep_unpolled(report: mpsc::Sender<Vec<Option<u64>>>) {
    let later = given(set_of_one(report));
    here!("tasksets::keep_unpolled");
    sleep(FOREVER).await;
    later.await;
}

async fn wait_for(job: JoinHandle<bool>) -> bool {
    here!("tasksets::wait_for");
    job.await.unwrap_or(false)
}

fn start_job(begun: mpsc::Sender<()>, gate: mpsc::Receiver<()>) -> JoinHandle<bool> {
    spawn_blocking(move || begun.send(()).is_ok() && gate.recv().is_ok())
}

/// Returns when both workers have begun: a worker begins as a job of the blocking pool. The tasks yield, as a worker
/// that blocks may have the other one's task in its own queue, from which a parked worker does not take it.
fn wait_for_workers() {
    let seen = Arc::new(Mutex::new(HashSet::new()));
    let (sender, both) = mpsc::channel();
    for _ in 0..4 {
        let (seen, sender) = (seen.clone(), sender.clone());
        tokio::spawn(async move {
            while !see_thread(&seen) {
                yield_now().await;
            }
            let _ = sender.send(());
        });
    }
    drop(sender);
    assert_eq!(both.iter().count(), 4);
}

/// Whether both workers have been seen.
fn see_thread(seen: &Mutex<HashSet<ThreadId>>) -> bool {
    let mut seen = seen.lock().unwrap();
    seen.insert(thread::current().id());
    seen.len() == 2
}

const JOB: &str = "tasksets::start_job::{closure#0}";

fn main() {
    // Its own threads do not count against the limit of one.
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .expect("cannot start a runtime");
    let _entered = runtime.enter();
    wait_for_workers();
    let (sender, receiver) = mpsc::channel();
    let joiner = tokio::spawn(join_some(sender));
    let mut waiting = Vec::new();
    let mut gates = Vec::new();
    let (begun, runs) = mpsc::channel();
    for number in 0..3 {
        let (open, gate) = mpsc::channel();
        gates.push(open);
        let job = start_job(begun.clone(), gate);
        if number == 0 {
            // Which job a thread takes first is random where the queue is sharded.
            runs.recv().expect("the first job is gone");
        }
        let id = truth::id(&job);
        let waiter = tokio::spawn(wait_for(job));
        let wait = Wait::new("join").with("task", id).with("job", JOB);
        let wait = match number {
            0 => wait.with("task_state", "running"),
            _ if cfg!(feature = "sharded") => wait.with("task_state", "scheduled"),
            _ => wait.with("task_state", "scheduled").with("ahead", number - 1),
        };
        waiting.push(Task::idle(truth::id(&waiter), &["tasksets::wait_for"]).waits(wait));
    }
    let members = receiver.recv().expect("the joiner is gone");
    let (sender, receiver) = mpsc::channel();
    let keeper = truth::id(&tokio::spawn(keep(sender)));
    let kept: Vec<_> = receiver.recv().expect("the keeper is gone");
    let (sender, receiver) = mpsc::channel();
    let in_structs = truth::id(&tokio::spawn(keep_in_structs(sender.clone())));
    let mut more = receiver.recv().expect("the keeper is gone");
    let unpolled = truth::id(&tokio::spawn(keep_unpolled(sender.clone())));
    more.extend(receiver.recv().expect("the keeper is gone"));
    let moved = truth::id(&tokio::spawn(keep_moved(sender)));
    more.extend(receiver.recv().expect("the keeper is gone"));
    let in_structs = Task::idle_tree(
        in_structs,
        tree::at("tasksets::keep_in_structs").held(tree::library()).held(tree::library()),
    );
    let unpolled = Task::idle_tree(
        unpolled,
        tree::at("tasksets::keep_unpolled")
            .held(tree::fresh("tasksets::given").held(tree::library()).certain()),
    );
    // The set has the newest first.
    let set = Wait::new("join_set")
        .with("tasks_in_set", members.len() as i64)
        .with("finished", 0)
        .with("tasks", members.iter().rev().copied().collect::<Vec<_>>());
    Truth::new("tasksets")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", 2))
        .tasks(members.into_iter().map(|id| Task::idle(id, &["tasksets::nap"]).sleeps()))
        .tasks(kept.into_iter().map(|id| Task::idle(id, &["tasksets::nap"]).sleeps()))
        .task(Task::idle_tree(keeper, tree::at("tasksets::keep").held(tree::library())).sleeps())
        .task(Task::idle(truth::id(&joiner), &["tasksets::join_some"]).waits(set))
        .tasks(more.into_iter().map(|id| Task::idle(id, &["tasksets::nap"]).sleeps()))
        .task(in_structs.sleeps())
        .task(unpolled.sleeps())
        .task(
            Task::idle_tree(moved, tree::at("tasksets::keep_moved").held(tree::library())).sleeps(),
        )
        .tasks(waiting)
        .blocking(JOB)
        .publish();
    loop {
        std::thread::park();
    }
}
