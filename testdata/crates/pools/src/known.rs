//! What tasks do with a pool, for any pool: the coroutines of one crate are in a module of its own.

use std::sync::Arc;

use tokio::sync::Barrier;
use truth::graph::{Graph, Node};
use truth::{Hold, Task, Wait};

/// Two connections: what all pools here are opened for.
pub const SIZE: i32 = 2;

/// Collects what is true of all pools.
#[derive(Default)]
pub struct Known {
    pub tasks: Vec<Task>,
    pub holds: Vec<Hold>,
    pub graph: Graph,
}

/// The address of what the clones of a pool share: its only member is an `Arc` of it, in which it
/// lies at this offset.
pub fn shared<T>(pool: &T, offset: usize) -> usize {
    // SAFETY: a pool begins with the pointer of its Arc.
    unsafe { *(pool as *const T as *const usize) + offset }
}

/// All connections are in use.
pub fn exhausted(object: usize) -> Wait {
    Wait::new("pool")
        .with("object", object as *const u8)
        .with("size", SIZE)
        .with("max_size", SIZE)
        .with("idle", 0)
        .with("in_use", SIZE)
}

/// Both have a connection; they wait for each other before they go on.
pub fn two() -> Arc<Barrier> {
    Arc::new(Barrier::new(2))
}

/// Until the named await point was passed so often.
pub async fn passed(name: &'static str, times: usize) {
    while truth::visits(name) < times {
        tokio::task::yield_now().await;
    }
}

impl Known {
    /// A task that is suspended in these coroutines and has one connection.
    pub fn holds(
        &mut self,
        task: Task,
        id: Option<u64>,
        object: usize,
        path: &'static str,
    ) -> Node {
        self.tasks.push(task);
        self.holds.push(Hold::new(id, "lock", "pool", object).path(path));
        Node::task(id)
    }

    /// A task that waits for a connection, which these have.
    pub fn waits(
        &mut self,
        id: Option<u64>,
        name: &'static str,
        object: usize,
        by: &[Node],
    ) -> Node {
        self.tasks.push(Task::idle(id, &[name]).waits(exhausted(object)));
        self.graph.waits(Node::task(id), "pool", Some(object), by);
        Node::task(id)
    }
}
