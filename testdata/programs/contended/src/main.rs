//! Tasks that wait for each other, for long and in ways that look like deadlocks, but each of
//! which will go on: there is nothing to complain about.

mod arms;
mod ends;
mod locks;
mod weak;

use std::future::Future;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use truth::graph::{address, Graph, Node};
use truth::tree::Node as Tree;
use truth::{here, Task, Truth, Wait, FOREVER};

type Lock = Mutex<u32>;

/// What nobody drops.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn lock() -> &'static Lock {
    leak(Mutex::new(0))
}

/// Spawns tasks and collects what is true of them.
struct Tasks {
    tasks: Vec<Task>,
    graph: Graph,
}

impl Tasks {
    fn start(future: impl Future<Output = ()> + Send + 'static) -> (JoinHandle<()>, Node) {
        let handle = tokio::spawn(future);
        let node = Node::task(truth::id(&handle));
        (handle, node)
    }

    fn spawn(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        wait: Wait,
    ) -> Node {
        let (handle, node) = Tasks::start(future);
        self.tasks.push(Task::idle(truth::id(&handle), &[name]).waits(wait));
        node
    }

    fn spawn_tree(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        tree: Tree,
        wait: Option<Wait>,
    ) -> Node {
        let (handle, node) = Tasks::start(future);
        let task = Task::idle_tree(truth::id(&handle), tree);
        self.tasks.push(wait.into_iter().fold(task, Task::beside));
        node
    }

    /// A task that has this and sleeps.
    fn hold<T: Send + 'static>(&mut self, what: T) -> Node {
        let (handle, node) = Tasks::start(hold(what));
        self.tasks.push(Task::idle(truth::id(&handle), &["contended::hold"]).sleeps());
        node
    }

    fn waits_for(&mut self, who: Node, lock: &Lock, holder: Node) {
        self.graph.waits(who, "mutex", address(lock), &[holder]);
    }
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
    let mut tasks = Tasks { tasks: Vec::new(), graph: Graph::new() };
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
