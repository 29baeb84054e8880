//! Pools of r2d2, whose `get` blocks the thread: tasks that hold connections across an await, and
//! threads that wait for them; tasks that have one and block their workers to get another.

#[allow(dead_code)]
#[path = "../../pools/src/known.rs"]
mod known;

use std::convert::Infallible;
use std::sync::{Arc, Barrier};

use r2d2::{ManageConnection, PooledConnection};
use tokio::runtime::Builder;
use tokio::time::sleep;
use truth::graph::{Graph, Node};
use truth::{here, id, Blocked, Task, Truth, FOREVER};

/// Those that block, and one that is free.
const WORKERS: usize = 4;
const OFFSET: usize = 2 * std::mem::size_of::<usize>();

type Pool = r2d2::Pool<Connector>;

struct Connector;

impl ManageConnection for Connector {
    type Connection = u64;
    type Error = Infallible;

    fn connect(&self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn is_valid(&self, _: &mut u64) -> Result<(), Infallible> {
        Ok(())
    }

    fn has_broken(&self, _: &mut u64) -> bool {
        false
    }
}

fn open() -> Pool {
    let size = known::SIZE as u32;
    let pool = Pool::builder().max_size(size).max_lifetime(None).idle_timeout(None);
    pool.connection_timeout(FOREVER).build(Connector).unwrap()
}

async fn keep(connection: PooledConnection<Connector>) {
    here!("pools_r2d2::keep");
    sleep(FOREVER).await;
    drop(connection);
}

async fn wait(pool: Pool) {
    here!("pools_r2d2::wait");
    drop(pool.get());
}

async fn take_two(pool: Pool, both: Arc<Barrier>) {
    let first = pool.get().unwrap();
    both.wait();
    here!("pools_r2d2::take_two");
    let second = pool.get();
    drop((first, second));
}

fn main() {
    let runtime =
        Builder::new_multi_thread().worker_threads(WORKERS).enable_time().build().unwrap();
    let _inside = runtime.enter();
    let (mut tasks, mut graph) = (Vec::new(), Graph::new());
    let mut blocked = Vec::new();

    let pool = open();
    let object = known::shared(&pool, OFFSET);
    let mut nodes = Vec::new();
    for _ in 0..known::SIZE {
        let task = id(&runtime.spawn(keep(pool.get().unwrap())));
        tasks.push(Task::idle(task, &["pools_r2d2::keep"]).sleeps());
        nodes.push(Node::task(task));
    }
    let task = id(&runtime.spawn(wait(pool.clone())));
    tasks.push(Task::blocked(task, "pools_r2d2::wait"));
    blocked.push(Blocked::new("pool", task, Some(object)));
    graph.waits(Node::task(task), "pool", Some(object), &nodes);
    let job = runtime.spawn_blocking(move || {
        truth::mark("pools_r2d2::job", file!(), line!());
        drop(pool.get());
    });
    blocked.push(Blocked::new("pool", id(&job), Some(object)));

    let (pool, both) = (open(), Arc::new(Barrier::new(2)));
    let object = known::shared(&pool, OFFSET);
    let ids = [(); 2].map(|()| id(&runtime.spawn(take_two(pool.clone(), both.clone()))));
    let nodes = ids.map(Node::task);
    for task in ids {
        tasks.push(Task::blocked(task, "pools_r2d2::take_two"));
        blocked.push(Blocked::new("pool", task, Some(object)));
        graph.waits_for_stack(Node::task(task), "pool", Some(object), &nodes);
    }
    graph.hard_deadlock(&nodes);

    Truth::new("pools_r2d2")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", WORKERS))
        .tasks(tasks)
        .graph(graph)
        .blocking("pools_r2d2::main::{closure#0}")
        .passes("pools_r2d2::job")
        .blocked(blocked)
        .publish();
    loop {
        std::thread::park();
    }
}
