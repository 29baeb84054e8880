//! Tasks that hold a `BiLock` or wait for it, each by a half of it.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use futures::lock::BiLock;
use tokio::task::yield_now;
use tokio::time::sleep;
use truth::{here, Wait, FOREVER};

use crate::tasks::{Held, Tasks};

const GUARD: Held = ("lock", "mutex", "guard");

/// How many of the tasks have locked theirs.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

async fn taken(number: usize) {
    while TAKEN.load(SeqCst) < number {
        yield_now().await;
    }
}

async fn hold(half: BiLock<u32>) {
    let guard = half.lock().await;
    TAKEN.fetch_add(1, SeqCst);
    here!("futures_ends::halves::hold");
    sleep(FOREVER).await;
    drop(guard);
}

async fn lock(half: BiLock<u32>) {
    taken(1).await;
    here!("futures_ends::halves::lock");
    drop(half.lock().await);
}

async fn cross(own: BiLock<u32>, other: BiLock<u32>) {
    let guard = own.lock().await;
    TAKEN.fetch_add(1, SeqCst);
    taken(3).await;
    here!("futures_ends::halves::cross");
    drop(other.lock().await);
    drop(guard);
}

/// Both halves, and what they share.
fn halves() -> (BiLock<u32>, BiLock<u32>, usize) {
    let (one, two) = BiLock::new(0);
    // SAFETY: a half is an Arc, which is the address of two counts before what is shared.
    let shared: usize = unsafe { mem::transmute_copy(&one) };
    (one, two, shared + 16)
}

pub async fn locks(tasks: &mut Tasks) {
    let wait =
        |lock: usize| Wait::new("mutex").with("object", lock as *const u32).with("polled", true);
    let (one, two, shared) = halves();
    let holder = tasks.sleeps(hold(one), &["futures_ends::halves::hold"], &[GUARD]);
    let who = tasks.waits(lock(two), "futures_ends::halves::lock", wait(shared), &[]);
    tasks.graph.waits(who, "mutex", Some(shared), &[holder]);

    let ((x, other_x, at_x), (y, other_y, at_y)) = (halves(), halves());
    let name = "futures_ends::halves::cross";
    let one = tasks.waits(cross(x, other_y), name, wait(at_y), &[GUARD]);
    let two = tasks.waits(cross(y, other_x), name, wait(at_x), &[GUARD]);
    tasks.graph.waits(one, "mutex", Some(at_y), &[two]);
    tasks.graph.waits(two, "mutex", Some(at_x), &[one]);
    tasks.graph.deadlock(&[one, two]);
    taken(3).await;
}
