//! A guard that went on together with a Box, to another task or to a frame further in. Each of these
//! variables may have been moved out, as far as its own frame tells; the Box says which one has it.

use tokio::sync::oneshot;
use tokio::time::sleep;
use truth::{here, FOREVER};

use crate::places::Owned;
use crate::{lock, Lock, Tasks};

struct Connection {
    state: Box<[u64; 4]>,
}

struct Lent {
    connection: Connection,
    guard: Owned,
}

impl Lent {
    fn new(lock: Lock) -> Lent {
        let guard = lock.clone().try_lock_owned().expect("it is locked");
        Lent { connection: Connection { state: Box::new([1, 2, 3, 4]) }, guard }
    }

    fn is_whole(&self) -> bool {
        self.connection.state[3] == 4 && *self.guard == 0
    }
}

async fn pings(connection: &mut Connection) {
    here!("holders::lent::pings");
    sleep(FOREVER).await;
    connection.state[0] += 1;
}

/// What it awaits borrows the Box.
async fn gives_back(mut lent: Lent) {
    here!("holders::lent::gives_back");
    pings(&mut lent.connection).await;
    drop(lent.guard);
}

async fn gave(given: Lent, to: oneshot::Sender<Lent>) {
    let mine = given;
    assert!(mine.is_whole());
    assert!(to.send(mine).is_ok());
    here!("holders::lent::gave");
    sleep(FOREVER).await;
}

/// Nothing borrows it here.
async fn keeps(lent: Lent) {
    here!("holders::lent::keeps");
    sleep(FOREVER).await;
    drop(lent.guard);
    drop(lent.connection);
}

async fn passes_on(given: Lent) {
    let mine = given;
    assert!(mine.is_whole());
    here!("holders::lent::passes_on");
    keeps(mine).await;
}

pub async fn all(tasks: &mut Tasks) {
    let one = lock();
    let (to, from) = oneshot::channel();
    tasks.sleeps(gave(Lent::new(one), to), &["holders::lent::gave"]);
    let given = from.await.expect("it gave nothing");
    let chain = &["holders::lent::gives_back", "holders::lent::pings"];
    tasks.holds_one(gives_back(given), chain, "lent.guard", one);

    let one = lock();
    let chain = &["holders::lent::passes_on", "holders::lent::keeps"];
    tasks.holds_one(passes_on(Lent::new(one)), chain, "lent.guard", one);
}
