//! Waits of async functions inside the bodies of frameworks: streams of tonic, of a server and of a
//! client, and events of warp.

mod events;
mod rpc;

use tokio::sync::Mutex;
use truth::{here, leak, Task, Truth, Wait};

pub type Lock = &'static Mutex<u32>;

/// A lock that nobody gives up, and the wait for it.
pub fn lock() -> (Lock, Wait) {
    let lock = leak(Mutex::new(0));
    keep(lock.try_lock().expect("it is locked"));
    (lock, Wait::new("mutex").with("object", lock as *const Mutex<u32>))
}

/// The number in a lock that nobody gives up.
pub async fn locked(lock: Lock) -> u32 {
    here!("frameworks::locked");
    *lock.lock().await
}

/// Keeps it open as long as the process lives.
pub fn keep<T>(object: T) {
    std::mem::forget(object);
}

/// A task of a framework, which tells nobody its id, with these coroutines of ours.
pub fn theirs(chain: &[&'static str]) -> Task {
    Task::idle(None, chain)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Vec::new();
    events::start(&mut tasks).await;
    rpc::start(&mut tasks).await;
    Truth::new("frameworks")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["frameworks::main::{async_block#0}"])
        .publish();
    here!("frameworks::main::{async_block#0}");
    std::future::pending::<()>().await;
}
