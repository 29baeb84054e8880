use std::future::Future;

use tokio::task::JoinHandle;
use truth::graph::{Graph, Node};
use truth::tree::Node as Tree;
use truth::{Task, Wait};

/// Spawns tasks that wait for each other and collects what is true of them.
#[derive(Default)]
pub struct Tasks {
    pub tasks: Vec<Task>,
    pub graph: Graph,
}

impl Tasks {
    /// A task that is described later.
    pub fn start(future: impl Future<Output = ()> + Send + 'static) -> (JoinHandle<()>, Node) {
        let handle = tokio::spawn(future);
        let node = Node::task(truth::id(&handle));
        (handle, node)
    }

    /// A task that was started, which is one coroutine and waits for this.
    pub fn describe(&mut self, handle: &JoinHandle<()>, name: &'static str, wait: Wait) {
        self.tasks.push(Task::idle(truth::id(handle), &[name]).waits(wait));
    }

    /// A task that is one coroutine and waits for this.
    pub fn spawn(
        &mut self,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        wait: Wait,
    ) -> Node {
        let (handle, node) = Tasks::start(future);
        self.describe(&handle, name, wait);
        node
    }

    /// A task with these futures, one of which waits for this.
    pub fn spawn_tree(
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

    /// In another branch, the last one waits for this too.
    pub fn beside(&mut self, wait: Wait) {
        self.change_last(|task| task.beside(wait));
    }

    /// The last one waits for so many things, and no more.
    pub fn leaves(&mut self, number: usize) {
        self.change_last(|task| task.leaves(number));
    }

    fn change_last(&mut self, change: impl FnOnce(Task) -> Task) {
        let last = self.tasks.pop().expect("no task yet");
        self.tasks.push(change(last));
    }
}
