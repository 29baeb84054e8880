//! Tasks that wait for each other, for long and in ways that look like deadlocks, but each of
//! which will go on: there is nothing to complain about.

mod arms;
mod ends;
mod locks;
mod weak;

use tokio::sync::Mutex;
use tokio::time::sleep;
use truth::graph::{address, Node};
use truth::{here, leak, Task, Truth, Wait, FOREVER};
use truth_tokio::Tasks;

type Lock = Mutex<u32>;

fn lock() -> &'static Lock {
    leak(Mutex::new(0))
}

/// A task that has this and sleeps.
fn spawn_hold<T: Send + 'static>(tasks: &mut Tasks, what: T) -> Node {
    let (handle, node) = Tasks::start(hold(what));
    tasks.tasks.push(Task::idle(truth::id(&handle), &["contended::hold"]).sleeps());
    node
}

fn waits_for(tasks: &mut Tasks, who: Node, lock: &Lock, holder: Node) {
    tasks.graph.waits(who, "mutex", address(lock), &[holder]);
}

fn for_mutex(lock: &Lock) -> Wait {
    Wait::new("mutex").with("object", lock as *const Lock)
}

async fn hold<T>(_what: T) {
    here!("contended::hold");
    sleep(FOREVER).await;
}

async fn nap() {
    here!("contended::nap");
    sleep(FOREVER).await;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    locks::spawn_all(&mut tasks).await;
    arms::spawn_all(&mut tasks);
    ends::spawn_all(&mut tasks);
    let notify = weak::spawn_all(&mut tasks);
    Truth::new("contended")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .graph(tasks.graph)
        .block_on(&["contended::main::{async_block#0}"])
        .publish();
    here!("contended::main::{async_block#0}");
    sleep(FOREVER).await;
    notify.notify_waiters();
}
