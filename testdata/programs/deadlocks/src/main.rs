//! Tasks that wait for each other in every way in which none of them will ever go on, tasks that
//! are stuck behind them, tasks that nobody will ever wake, and some that only look so.

#[cfg(feature = "since_1_28")]
mod aborts;
mod actors;
mod arms;
mod calls;
mod channels;
mod cycles;
mod jobs;
mod lost;
mod moved;

use tokio::sync::Mutex;
use truth::graph::{address, Node};
use truth::{declares, here, leak, quiet, Truth, Wait};
use truth_tokio::Tasks;

type Lock = Mutex<u32>;

fn lock() -> &'static Lock {
    leak(Mutex::new(0))
}

async fn nap() {
    here!("deadlocks::nap");
    tokio::time::sleep(truth::FOREVER).await;
}

fn for_mutex(lock: &Lock) -> Wait {
    Wait::new("mutex").with("object", lock as *const Lock)
}

/// Waits for what the future of `block_on` holds while it waits for this task.
async fn report(to: &'static Lock) {
    here!("deadlocks::report");
    *to.lock().await += 1;
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    cycles::spawn_all(&mut tasks).await;
    arms::spawn_all(&mut tasks);
    #[cfg(feature = "since_1_28")]
    aborts::spawn_all(&mut tasks);
    channels::spawn_all(&mut tasks);
    calls::spawn_all(&mut tasks);
    moved::spawn_all(&mut tasks);
    jobs::spawn_all(&mut tasks);
    lost::spawn_all(&mut tasks);
    actors::spawn_all(&mut tasks);

    let root = Node::thread(quiet::own_tid());
    let results = lock();
    declares!("deadlocks::main guard");
    let guard = results.lock().await;
    let (reporter, reports) = Tasks::start(report(results));
    tasks.describe(&reporter, "deadlocks::report", for_mutex(results));
    tasks.graph.waits(reports, "mutex", address(results), &[root]);
    tasks.graph.waits(root, "join", None, &[reports]);
    tasks.graph.deadlock(&[root, reports]);

    Truth::new("deadlocks")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .graph(tasks.graph)
        .block_on(&["deadlocks::main::{async_block#0}"])
        .blocking_on(jobs::JOB)
        .publish();
    here!("deadlocks::main::{async_block#0}");
    let _ = reporter.await;
    drop(guard);
}
