//! Tasks that keep others, or themselves, from a lock with a future that they do not poll; argument 1 says how. Prints
//! `ready` when the situation is there. See run_kept.py.

use std::future::{poll_fn, Future};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::sleep;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(3600);

type Lock = Arc<Mutex<u32>>;

async fn add(lock: Lock) {
    *lock.lock().await += 1;
}

async fn wait(lock: Lock) {
    add(lock).await;
    sleep(LONG).await;
}

/// Takes a place in the queue of the lock, and sleeps; drops: without that place.
async fn keep(lock: Lock, drops: bool) {
    let mut request = Box::pin(add(lock));
    poll_fn(|cx| {
        let _ = request.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
    if drops {
        drop(request);
        sleep(LONG).await;
    } else {
        sleep(LONG).await;
        request.await;
    }
}

/// Waits for the lock on its thread; drops: without a place in the queue, which it has given up.
async fn nested(lock: Lock, drops: bool) {
    {
        let mut update = Box::pin(lock.clone().lock_owned());
        tokio::select! {
            biased;
            _ = &mut update => return,
            _ = sleep(SHORT) => {}
        }
        if !drops {
            log(&lock);
        }
    }
    log(&lock);
    sleep(LONG).await;
}

fn log(lock: &Lock) {
    tokio::task::block_in_place(|| {
        Handle::current().block_on(async {
            *lock.lock().await += 1;
        })
    });
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mode = std::env::args().nth(1).expect("a mode");
    let lock = Lock::default();
    let guard = lock.clone().lock_owned().await;
    let drops = mode.ends_with("_well");
    if mode.starts_with("nested") {
        tokio::spawn(nested(lock.clone(), drops));
    } else {
        tokio::spawn(keep(lock.clone(), drops));
    }
    sleep(2 * SHORT).await;
    tokio::spawn(wait(lock.clone()));
    tokio::spawn(wait(lock.clone()));
    sleep(2 * SHORT).await;
    drop(guard);
    thread::spawn(|| {
        thread::sleep(4 * SHORT);
        println!("ready");
    });
    sleep(LONG).await;
}
