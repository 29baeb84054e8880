//! Futures that an `AbortHandle` of `futures` can end, and who has it.

use std::future::pending;
use std::sync::Arc;

use futures::future::{AbortHandle, AbortRegistration, Abortable};
use futures::lock::{Mutex, OwnedMutexGuard};
use tokio::time::sleep;
use truth::graph::address;
use truth::{here, FOREVER};

use crate::tasks::{Held, Tasks};
use crate::{for_mutex, mutex};

const HANDLE: Held = ("waker", "abort", "handle");
const GUARD: Held = ("lock", "mutex", "guard");

async fn nap() {
    here!("futures_ends::aborts::nap");
    sleep(FOREVER).await;
}

async fn limited(registration: AbortRegistration) {
    let nap = Abortable::new(nap(), registration);
    here!("futures_ends::aborts::limited");
    let _ = nap.await;
}

async fn watch(handle: AbortHandle) {
    here!("futures_ends::aborts::watch");
    sleep(FOREVER).await;
    handle.abort();
}

/// What it aborts is not polled any more.
async fn aborted() {
    let (handle, registration) = AbortHandle::new_pair();
    let mut never = Box::pin(Abortable::new(pending::<()>(), registration));
    assert!(futures::poll!(never.as_mut()).is_pending());
    handle.abort();
    drop(handle);
    here!("futures_ends::aborts::aborted");
    sleep(FOREVER).await;
    drop(never);
}

async fn cross(
    guard: OwnedMutexGuard<u32>,
    other: &'static Arc<Mutex<u32>>,
    limit: AbortRegistration,
) {
    let lock = Abortable::new(other.lock(), limit);
    here!("futures_ends::aborts::cross");
    let _ = lock.await;
    drop(guard);
}

pub async fn futures(tasks: &mut Tasks) {
    let (handle, registration) = AbortHandle::new_pair();
    let chain = &["futures_ends::aborts::limited", "futures_ends::aborts::nap"];
    tasks.sleeps(limited(registration), chain, &[]);
    tasks.property("aborted", false);
    tasks.sleeps(watch(handle), &["futures_ends::aborts::watch"], &[HANDLE]);
    tasks.sleeps(aborted(), &["futures_ends::aborts::aborted"], &[]);
    tasks.property("aborted", true);

    // They wait for each other, but somebody may end one of the waits.
    let (x, y) = (mutex(), mutex());
    let (own_x, own_y) = (x.clone().lock_owned().await, y.clone().lock_owned().await);
    let (handle, registration) = AbortHandle::new_pair();
    let name = "futures_ends::aborts::cross";
    let one = tasks.waits(cross(own_x, y, registration), name, for_mutex(y), &[GUARD]);
    tasks.property("aborted", false);
    let (kept, registration) = AbortHandle::new_pair();
    truth::leak(kept);
    let two = tasks.waits(cross(own_y, x, registration), name, for_mutex(x), &[GUARD]);
    tasks.property("aborted", false);
    tasks.sleeps(watch(handle), &["futures_ends::aborts::watch"], &[HANDLE]);
    tasks.graph.waits(one, "mutex", address(&**y), &[two]);
    tasks.graph.waits(two, "mutex", address(&**x), &[one]);
    tasks.graph.possible_deadlock(&[one, two]);
}
