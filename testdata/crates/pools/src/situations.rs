// The coroutines for one pool, included by a module for each: it has the types Pool and Connection,
// the macros `name`, `get` and `owned` (a connection that does not borrow the pool), TIMES_OUT:
// whether a wait for a connection ends by itself after a time, and OFFSET: see `shared`.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio::time::sleep;
use truth::graph::Node;
use truth::{declares, here, id, Hold, Task, FOREVER};
use crate::known::{passed, shared, two, Known};

struct Session {
    connection: Connection,
}

async fn keep(pool: Pool, both: Arc<Barrier>) {
    declares!(name!("keep connection"));
    let connection = get!(pool).await.unwrap();
    both.wait().await;
    here!(name!("keep"));
    sleep(FOREVER).await;
    drop(connection);
}

async fn use_session(session: Session) {
    here!(name!("use_session"));
    sleep(FOREVER).await;
    drop(session.connection);
}

async fn serve(pool: Pool, both: Arc<Barrier>) {
    let session = Session { connection: owned!(pool).await.unwrap() };
    both.wait().await;
    here!(name!("serve"));
    use_session(session).await;
}

async fn wait(pool: Pool) {
    here!(name!("wait"));
    drop(get!(pool).await);
}

async fn take_two(pool: Pool, both: Arc<Barrier>) {
    let first = get!(pool).await.unwrap();
    both.wait().await;
    here!(name!("take_two"));
    let second = get!(pool).await;
    drop((first, second));
}

async fn receive(connection: Connection) {
    here!(name!("receive"));
    sleep(FOREVER).await;
    drop(connection);
}

/// Two tasks have all connections and sleep: nothing is wrong.
async fn busy(known: &mut Known, pool: Pool) {
    let (both, object) = (two(), shared(&pool, OFFSET));
    let keeper = id(&tokio::spawn(keep(pool.clone(), both.clone())));
    let server = id(&tokio::spawn(serve(pool.clone(), both.clone())));
    passed(name!("keep"), 1).await;
    passed(name!("use_session"), 1).await;
    let waiter = id(&tokio::spawn(wait(pool)));
    let task = Task::idle(keeper, &[name!("keep")]).sleeps();
    let one = known.holds(task, keeper, object, "connection");
    let chain = [name!("serve"), name!("use_session")];
    let task = Task::idle(server, &chain).sleeps();
    let other = known.holds(task, server, object, "session.connection");
    known.waits(waiter, name!("wait"), object, &[one, other]);
}

/// Each of two tasks has one connection and wants another one; a third waits behind them.
async fn stuck(known: &mut Known, pool: Pool) {
    let (both, object) = (two(), shared(&pool, OFFSET));
    let ids = [(); 2].map(|()| id(&tokio::spawn(take_two(pool.clone(), both.clone()))));
    let nodes = ids.map(Node::task);
    for task in ids {
        known.waits(task, name!("take_two"), object, &nodes);
        known.holds.push(Hold::new(task, "lock", "pool", object).path("first"));
    }
    if TIMES_OUT {
        known.graph.possible_deadlock(&nodes);
    } else {
        known.graph.proven_deadlock(&nodes);
    }
    passed(name!("take_two"), 2).await;
    let waiter = id(&tokio::spawn(wait(pool)));
    let waiter = known.waits(waiter, name!("wait"), object, &nodes);
    known.graph.behind(waiter);
}

/// The connections were handed to tasks that were spawned for them.
async fn handed(known: &mut Known, pool: Pool) {
    let object = shared(&pool, OFFSET);
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let connection = owned!(pool).await.unwrap();
        let task = id(&tokio::spawn(receive(connection)));
        let idle = Task::idle(task, &[name!("receive")]).sleeps();
        nodes.push(known.holds(idle, task, object, "connection"));
    }
    let waiter = id(&tokio::spawn(wait(pool)));
    known.waits(waiter, name!("wait"), object, &nodes);
}

pub async fn spawn_all(known: &mut Known, open: impl Fn() -> Pool) {
    busy(known, open()).await;
    stuck(known, open()).await;
    handed(known, open()).await;
}
