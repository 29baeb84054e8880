//! Tasks that wait for what a future of their own has, or will get first, which they do not poll:
//! futurelocks, as RFD 609 of Oxide calls them. And tasks that look like it and are none.

mod across;
mod granted;
mod innocent;
mod published;
mod queues;
mod sequences;

use tokio::sync::Mutex;
use truth::graph::{address, Node};
use truth::{here, leak, quiet, Task, Truth, Wait};
use truth_tokio::Tasks;

type Lock = Mutex<u32>;

fn lock() -> &'static Lock {
    leak(Mutex::new(0))
}

/// A task that holds this and sleeps.
async fn spawn_hold(tasks: &mut Tasks, lock: &'static Lock) -> Node {
    let guard = lock.lock().await;
    let (handle, node) = Tasks::start(hold(guard));
    tasks.tasks.push(Task::idle(truth::id(&handle), &["futurelocks::hold"]).sleeps());
    node
}

fn for_mutex(lock: &Lock) -> Wait {
    Wait::new("mutex").with("object", lock as *const Lock)
}

async fn hold<T>(_guard: T) {
    here!("futurelocks::hold");
    tokio::time::sleep(truth::FOREVER).await;
}

/// Returns when this await point was passed so often.
async fn passed(name: &str, times: usize) {
    while truth::visits(name) < times {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    sequences::spawn_all(&mut tasks).await;
    let lock = published::spawn_all(&mut tasks);
    queues::spawn_all(&mut tasks).await;
    innocent::spawn_all(&mut tasks).await;
    granted::spawn_all(&mut tasks).await;
    across::spawn_all(&mut tasks).await;
    let root = Node::thread(quiet::own_tid());
    let object = address(&**lock);
    tasks.graph.futurelock(root, object, true);
    tasks.graph.waits(root, "mutex", object, &[root]);
    Truth::new("futurelocks")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .graph(tasks.graph)
        .block_on(&[
            "futurelocks::main::{async_block#0}",
            "futurelocks::published::do_stuff",
            "futurelocks::published::do_async_thing op2",
        ])
        .publish();
    here!("futurelocks::main::{async_block#0}");
    published::do_stuff(lock.clone()).await;
}
