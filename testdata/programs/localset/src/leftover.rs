//! A job that drives a LocalSet, and has on its stack what remains of a future of the same type
//! that drove another one.

use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::task::{Context, Wake};

use tokio::runtime::Handle;
use tokio::task::LocalSet;
use truth::here;

use crate::{naps, tell, Part};

struct Nobody;

impl Wake for Nobody {
    fn wake(self: Arc<Self>) {}
}

async fn beside_leftover() {
    here!("localset::leftover::beside_leftover");
    std::future::pending().await
}

/// Polled once and dropped where it is: nobody writes there that it is not suspended any more.
fn poll_and_drop<F: Future>(place: &mut MaybeUninit<F>, future: F) {
    let waker = Arc::new(Nobody).into();
    let future = place.write(future);
    // SAFETY: it stays where it is until it is dropped, and is not used afterwards.
    unsafe {
        let pending = Pin::new_unchecked(&mut *future).poll(&mut Context::from_waker(&waker));
        assert!(pending.is_pending());
        std::ptr::drop_in_place(future);
    }
}

/// A job of the blocking pool, whose future is searched for on the stack.
pub(crate) fn job_with_leftover(told: Sender<Part>) {
    let (earlier, set) = (LocalSet::new(), LocalSet::new());
    let mut leftover = MaybeUninit::uninit();
    poll_and_drop(&mut leftover, earlier.run_until(beside_leftover()));
    let tasks = vec![naps(&set)];
    let chain: &[&str] = &["localset::leftover::beside_leftover"];
    tell(told, Part { runtime: None, tasks, block_on: Some(chain) });
    Handle::current().block_on(set.run_until(beside_leftover()));
    // SAFETY: its memory is there; whoever reads it keeps its place from being used for others.
    unsafe { leftover.as_ptr().cast::<u8>().read_volatile() };
    drop(earlier);
}
