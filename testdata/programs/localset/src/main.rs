//! Tasks that stay on their thread: LocalSets that are driven in several ways or not at all, a
//! LocalRuntime where tokio has it; and tasks that a JoinSet or an AbortHandle belongs to.

mod handles;
mod leftover;

use std::sync::mpsc::{channel, Sender};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::task::{spawn_local, yield_now, LocalSet};
use tokio::time::sleep;
use truth::{here, Runtime, Task, Truth, FOREVER};

/// What one thread tells of itself.
#[derive(Default)]
struct Part {
    runtime: Option<Runtime>,
    tasks: Vec<Task>,
    block_on: Option<&'static [&'static str]>,
}

/// The last word of a thread: whoever hears must know that no more will come.
fn tell(told: Sender<Part>, part: Part) {
    let _ = told.send(part);
}

async fn nap() {
    here!("localset::nap");
    sleep(FOREVER).await;
}

async fn parent() {
    let child = spawn_local(nap());
    here!("localset::parent");
    let _ = child.await;
}

fn naps(set: &LocalSet) -> Task {
    let ids = [set.spawn_local(nap()), set.spawn_local(nap())].map(|task| truth::id(&task));
    Task::all_idle(ids.to_vec(), &["localset::nap"]).sleeps().local()
}

/// A task, and the one that it spawns; only that one knows its id.
fn family(set: &LocalSet) -> [Task; 2] {
    let id = truth::id(&set.spawn_local(parent()));
    [
        Task::idle(id, &["localset::parent"]).joins(None).local(),
        Task::idle(None, &["localset::nap"]).sleeps().local(),
    ]
}

async fn await_set(told: Sender<Part>) {
    let set = LocalSet::new();
    let mut tasks = vec![naps(&set)];
    tasks.extend(family(&set));
    let runtime = Some(truth_tokio::current("current_thread", 1));
    tell(told, Part { runtime, tasks, block_on: Some(&["localset::await_set"]) });
    here!("localset::await_set");
    set.await;
}

fn thread_with_runtime(told: Sender<Part>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("cannot start a runtime").block_on(await_set(told));
}

async fn on_local_runtime(told: Sender<Part>) {
    let id = truth::id(&spawn_local(nap()));
    let tasks = vec![Task::idle(id, &["localset::nap"]).sleeps().on(3)];
    let runtime = Some(truth_tokio::current("local_runtime", 1));
    tell(told, Part { runtime, tasks, block_on: Some(&["localset::on_local_runtime"]) });
    here!("localset::on_local_runtime");
    std::future::pending().await
}

/// A set that is the whole future of block_on.
fn thread_with_set(told: Sender<Part>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("cannot start a runtime");
    let set = LocalSet::new();
    let guard = runtime.enter();
    let tasks = vec![naps(&set)];
    drop(guard);
    let described = Some(truth_tokio::describe(runtime.handle(), "current_thread", 1));
    tell(told, Part { runtime: described, tasks, block_on: Some(&[]) });
    runtime.block_on(set);
}

fn thread_with_local_runtime(told: Sender<Part>) {
    truth_tokio::block_on_local(on_local_runtime(told));
}

async fn in_job() {
    here!("localset::in_job");
    std::future::pending().await
}

/// A job of the blocking pool that drives a LocalSet on the multi_thread runtime's drivers.
fn job(told: Sender<Part>) {
    let set = LocalSet::new();
    let tasks = vec![naps(&set)];
    tell(told, Part { runtime: None, tasks, block_on: Some(&["localset::in_job"]) });
    Handle::current().block_on(set.run_until(in_job()));
}

/// Two sets that no one drives: one never was, the other has been for a moment.
async fn run(told: Sender<Part>) {
    let (never, once) = (LocalSet::new(), LocalSet::new());
    let id = truth::id(&never.spawn_local(nap()));
    let mut tasks = vec![Task::unpolled(id, "localset::nap").undriven(), naps(&once)];
    once.run_until(yield_now()).await;
    tasks.extend(handles::spawn_all());
    tell(told, Part { runtime: None, tasks, block_on: Some(&["localset::run"]) });
    here!("localset::run");
    std::future::pending::<()>().await;
    drop((never, once));
}

fn main() {
    let runtime = truth_tokio::multi_thread(1);
    let (told, hear) = channel();
    let copies = [0; 6].map(|_| told.clone());
    let [first, second, third, fourth, fifth, sixth] = copies;
    let set = LocalSet::new();
    let tasks = vec![naps(&set)];
    let main = Some(truth_tokio::describe(runtime.handle(), "multi_thread", 1));
    tell(told, Part { runtime: main, tasks, block_on: None });
    // One after the other: runtimes are told apart by their order.
    thread::spawn(|| thread_with_runtime(first));
    let mut parts: Vec<Part> = hear.iter().take(2).collect();
    thread::spawn(|| thread_with_set(fifth));
    parts.extend(hear.iter().take(1));
    thread::spawn(|| thread_with_local_runtime(second));
    runtime.spawn_blocking(|| job(third));
    runtime.spawn_blocking(|| leftover::job_with_leftover(sixth));
    thread::spawn(move || {
        parts.extend(hear.iter());
        publish(parts);
    });
    set.block_on(&runtime, run(fourth));
}

fn publish(parts: Vec<Part>) {
    let job = "localset::main::{closure#";
    let mut truth = Truth::new("localset").blocking_on(job).blocking_on(job);
    for part in parts {
        truth = truth.tasks(part.tasks);
        if let Some(runtime) = part.runtime {
            truth = truth.runtime(runtime);
        }
        if let Some(chain) = part.block_on {
            truth = truth.block_on(chain);
        }
    }
    handles::gone().into_iter().fold(truth, |truth, id| truth.gone(id)).publish();
}
