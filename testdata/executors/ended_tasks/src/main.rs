//! Two tasks of a `StaticExecutor`, which lists none, and what is left in memory of many others: some have ended,
//! some were cancelled, and their memory is in the lists of free chunks or used again.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use async_channel::Receiver;
use async_executor::StaticExecutor;
use futures_lite::future;
use truth::{here, leak, Truth};

const ENDED: usize = 400;

static STATIC: StaticExecutor = StaticExecutor::new();
static DONE: AtomicUsize = AtomicUsize::new(0);

async fn stays(receiver: Receiver<u32>) {
    here!("ended_tasks::stays");
    let _ = receiver.recv().await;
}

/// Of several sizes, so that the lists of free chunks are several.
async fn ends<const N: usize>(receiver: Receiver<u32>) {
    let bytes = [0_u8; N];
    let _ = receiver.recv().await;
    DONE.fetch_add(usize::from(bytes[0]) + 1, SeqCst);
}

/// What stays between them keeps their free chunks from becoming one, which would be given back.
fn spawn(number: usize, receiver: Receiver<u32>) -> async_executor::Task<()> {
    std::hint::black_box(leak([number; 3]));
    match number % 3 {
        0 => STATIC.spawn(ends::<8>(receiver)),
        1 => STATIC.spawn(ends::<200>(receiver)),
        _ => STATIC.spawn(ends::<1400>(receiver)),
    }
}

/// Half of them get their message, the others are cancelled.
fn run_and_end(sender: async_channel::Sender<u32>, receiver: &Receiver<u32>) {
    let mut tasks: Vec<_> = (0..ENDED).map(|number| spawn(number, receiver.clone())).collect();
    let cancelled = tasks.split_off(ENDED / 2);
    future::block_on(STATIC.run(async {
        for task in cancelled {
            task.cancel().await;
        }
        for _ in 0..ENDED / 2 {
            let _ = sender.send(1).await;
        }
        for task in tasks {
            task.await;
        }
    }));
    assert_eq!(DONE.load(SeqCst), ENDED / 2);
}

fn main() {
    let (sender, receiver) = async_channel::bounded(1);
    run_and_end(sender, &receiver);
    let (sender, receiver) = async_channel::bounded(1);
    leak(sender);
    STATIC.spawn(stays(receiver.clone())).detach();
    STATIC.spawn(stays(receiver)).detach();
    thread::spawn(|| future::block_on(STATIC.run(std::future::pending::<()>())));
    Truth::new("ended_tasks").passes("ended_tasks::stays").publish();
    loop {
        thread::park();
    }
}
