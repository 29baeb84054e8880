//! Tasks that wait for each other, and what is true of them. Several programs have this file as a
//! module.

use std::future::Future;

use tokio::task::JoinHandle;
use truth::graph::{Graph, Node};
use truth::{here, Hold, Task, Truth, Wait};

/// What a task holds: role, kind, and the path to it from its frame on; empty: it has no name.
pub type Held = (&'static str, &'static str, &'static str);

/// Spawns tasks and collects what is true of them.
#[derive(Default)]
pub struct Tasks {
    tasks: Vec<Task>,
    holds: Vec<Hold>,
    pub graph: Graph,
}

impl Tasks {
    fn add(&mut self, handle: &JoinHandle<()>, task: Task, held: &[Held]) -> Node {
        let id = truth::id(handle);
        for (role, kind, path) in held {
            let hold = Hold::new(id, role, kind, 0);
            self.holds.push(if path.is_empty() { hold } else { hold.path(path) });
        }
        self.tasks.push(task);
        Node::task(id)
    }

    /// A task that sleeps at the end of this chain.
    pub fn sleeps(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        chain: &[&'static str],
        held: &[Held],
    ) -> Node {
        let handle = tokio::spawn(future);
        self.add(&handle, Task::idle(truth::id(&handle), chain).sleeps(), held)
    }

    /// A task that is one coroutine and waits for this.
    pub fn waits(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        wait: Wait,
        held: &[Held],
    ) -> Node {
        let handle = tokio::spawn(future);
        self.add(&handle, Task::idle(truth::id(&handle), &[name]).waits(wait), held)
    }

    /// In another branch, the last task waits for this.
    #[allow(dead_code)]
    pub fn beside(&mut self, wait: Wait) {
        let task = self.tasks.pop().expect("a task");
        self.tasks.push(task.beside(wait));
    }

    /// One of the futures of the last task has this property.
    #[allow(dead_code)]
    pub fn property(&mut self, key: &'static str, detail: bool) {
        let task = self.tasks.pop().expect("a task");
        self.tasks.push(task.property(key, detail));
    }

    /// Prints all that, and waits.
    pub async fn publish(self, program: &'static str) {
        Truth::new(program)
            .runtime(truth_tokio::current("multi_thread", 2))
            .tasks(self.tasks)
            .graph(self.graph)
            .holds(self.holds)
            .block_on(MAIN)
            .publish();
        here!(MAIN[1]);
        std::future::pending::<()>().await;
    }
}

/// The future of `block_on`.
const MAIN: &[&str] = &[
    concat!(env!("CARGO_CRATE_NAME"), "::main::{async_block#0}"),
    concat!(env!("CARGO_CRATE_NAME"), "::tasks::Tasks::publish"),
];
