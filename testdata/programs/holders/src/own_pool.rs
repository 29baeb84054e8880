//! A pool of the program's own: its permits are forgotten, and a guard adds one when it is dropped.

use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use truth::{declared, here, Hold, Task, Wait, FOREVER};

use crate::places::{address, keep, KEEP};
use crate::Tasks;

struct Connection {
    number: usize,
}

struct Shared {
    free: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

#[derive(Clone)]
struct Pool {
    shared: Arc<Shared>,
}

struct Lease {
    pool: Pool,
    connection: Option<Connection>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.shared.idle.lock().expect("nobody panicked").push(connection);
            self.pool.shared.free.add_permits(1);
        }
    }
}

/// It closes the pool, and has no connection.
struct Closer {
    pool: Pool,
}

impl Drop for Closer {
    fn drop(&mut self) {
        self.pool.shared.free.close();
    }
}

/// It has a connection, but gives nothing back.
#[allow(dead_code)]
struct Taken {
    pool: Pool,
    connection: Connection,
}

/// The permit is a value: nobody but the debugger reads it.
#[allow(dead_code)]
struct Ticket {
    permit: OwnedSemaphorePermit,
    connection: Connection,
}

impl Pool {
    fn new(size: usize) -> Pool {
        let idle = (0..size).map(|number| Connection { number }).collect();
        Pool { shared: Arc::new(Shared { free: Semaphore::new(size), idle: Mutex::new(idle) }) }
    }

    async fn take(&self) -> Connection {
        here!("holders::own_pool::Pool::take");
        self.shared.free.acquire().await.expect("open").forget();
        self.shared.idle.lock().expect("nobody panicked").pop().expect("a free connection")
    }

    async fn lease(&self) -> Lease {
        here!("holders::own_pool::Pool::lease");
        let connection = Some(self.take().await);
        Lease { pool: self.clone(), connection }
    }
}

async fn uses(lease: Lease) {
    declared!("holders::own_pool::uses lease");
    here!("holders::own_pool::uses");
    sleep(FOREVER).await;
    drop(lease);
}

/// It gave its connection back before.
async fn gave_back(mut lease: Lease) {
    let connection = lease.connection.take().expect("a connection");
    lease.pool.shared.idle.lock().expect("nobody panicked").push(connection);
    lease.pool.shared.free.add_permits(1);
    here!("holders::own_pool::gave_back");
    sleep(FOREVER).await;
    drop(lease);
}

const WAITS: &[&str] = &[
    "holders::own_pool::waits",
    "holders::own_pool::Pool::lease",
    "holders::own_pool::Pool::take",
];

async fn waits(pool: Pool) {
    here!("holders::own_pool::waits");
    let lease = pool.lease().await;
    println!("{}", lease.connection.as_ref().map_or(0, |connection| connection.number));
}

pub async fn all(tasks: &mut Tasks) {
    let pool = Pool::new(3);
    let free = address(&pool.shared.free);
    for _ in 0..2 {
        let id = tasks.sleeps(uses(pool.lease().await), &["holders::own_pool::uses"]);
        tasks.holds.push(Hold::new(id, "slot", "semaphore", free).path("lease"));
    }
    tasks.sleeps(gave_back(pool.lease().await), &["holders::own_pool::gave_back"]);
    tokio::task::yield_now().await;
    let connection = pool.take().await;
    tasks.sleeps(keep(Taken { pool: pool.clone(), connection }), KEEP);
    tasks.sleeps(keep(Closer { pool: pool.clone() }), KEEP);
    let wait = Wait::new("semaphore").with("object", free as *const u8);
    let id = truth::id(&tokio::spawn(waits(pool)));
    tasks.tasks.push(Task::idle(id, WAITS).waits(wait));

    let tickets = Arc::new(Semaphore::new(1));
    let permit = tickets.clone().acquire_owned().await.expect("open");
    let id = tasks.sleeps(keep(Ticket { permit, connection: Connection { number: 0 } }), KEEP);
    let hold = Hold::lock(id, "semaphore", Arc::as_ptr(&tickets));
    tasks.holds.push(hold.path("kept.permit"));
}
