//! Circles of locks, in which a future written by hand polls something beside the lock that it
//! wants.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::task::AtomicWaker;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, MutexGuard};
use truth::graph::{address, Node};
use truth::here;
use truth::tree::at;
use truth::Wait;
use truth_tokio::Tasks;

use crate::polled::{Both, InTurn};
use crate::{readable, silent, Boxed};

type Lock = Mutex<u32>;
type Guard = MutexGuard<'static, u32>;

/// What another thread may set.
#[derive(Default)]
struct Signal {
    waker: AtomicWaker,
    set: AtomicBool,
}

/// Over when the child is, or when the signal is set.
struct Signalled {
    child: Boxed,
    signal: Arc<Signal>,
}

impl Future for Signalled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.signal.waker.register(cx.waker());
        if self.signal.set.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        self.child.as_mut().poll(cx)
    }
}

static WAKERS: std::sync::Mutex<Vec<Waker>> = std::sync::Mutex::new(Vec::new());

/// The same by a way that no debugger finds.
struct Secret {
    child: Boxed,
}

impl Future for Secret {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        WAKERS.lock().expect("poisoned").push(cx.waker().clone());
        self.child.as_mut().poll(cx)
    }
}

async fn want(lock: &'static Lock) {
    here!("composite::circles::want");
    *lock.lock().await += 1;
}

/// Stands opposite to each of the others.
async fn opposite(guard: Guard, lock: &'static Lock) {
    here!("composite::circles::opposite");
    *lock.lock().await += 1;
    drop(guard);
}

async fn read_beside(guard: Guard, lock: &'static Lock, reader: TcpStream) {
    let child: Boxed = Box::pin(want(lock));
    here!("composite::circles::read_beside");
    Both { child, reader }.await;
    drop(guard);
}

async fn signalled(guard: Guard, lock: &'static Lock, signal: Arc<Signal>) {
    let child: Boxed = Box::pin(want(lock));
    here!("composite::circles::signalled");
    Signalled { child, signal }.await;
    drop(guard);
}

async fn secret(guard: Guard, lock: &'static Lock) {
    let child: Boxed = Box::pin(want(lock));
    here!("composite::circles::secret");
    Secret { child }.await;
    drop(guard);
}

/// Will never go on: it does not read before it has the lock.
async fn read_then(guard: Guard, lock: &'static Lock, stream: TcpStream) {
    let child: Boxed = Box::pin(want(lock));
    here!("composite::circles::read_then");
    InTurn { child, stream }.await;
    drop(guard);
}

struct Pair {
    mine: &'static Lock,
    theirs: &'static Lock,
}

impl Pair {
    fn new() -> Pair {
        Pair { mine: truth::leak(Mutex::new(0)), theirs: truth::leak(Mutex::new(0)) }
    }

    fn guard(&self) -> Guard {
        self.mine.try_lock().expect("nobody has it")
    }

    /// Spawns both; they wait for each other.
    fn spawn(
        &self,
        tasks: &mut Tasks,
        future: impl Future<Output = ()> + Send + 'static,
        name: &'static str,
        beside: Option<Wait>,
    ) -> [Node; 2] {
        let wait = |lock: &Lock| Wait::new("mutex").with("object", lock as *const Lock);
        let guard = self.theirs.try_lock().expect("nobody has it");
        let two = opposite(guard, self.mine);
        let two = tasks.spawn(two, "composite::circles::opposite", wait(self.mine));
        let leaves = 1 + usize::from(beside.is_some());
        let tree = at(name).polls(at("composite::circles::want"));
        let one = tasks.spawn_tree(future, tree, Some(wait(self.theirs)));
        beside.into_iter().for_each(|wait| tasks.beside(wait));
        tasks.leaves(leaves);
        tasks.graph.waits(one, "mutex", address(self.theirs), &[two]);
        tasks.graph.waits(two, "mutex", address(self.mine), &[one]);
        [one, two]
    }
}

pub(crate) async fn spawn_all(tasks: &mut Tasks) {
    let pair = Pair::new();
    let future = read_beside(pair.guard(), pair.theirs, silent().await);
    pair.spawn(tasks, future, "composite::circles::read_beside", Some(readable()));

    let pair = Pair::new();
    let signal = truth::leak(Arc::<Signal>::default());
    let future = signalled(pair.guard(), pair.theirs, signal.clone());
    pair.spawn(tasks, future, "composite::circles::signalled", Some(Wait::new("waker")));

    let pair = Pair::new();
    let future = secret(pair.guard(), pair.theirs);
    let both = pair.spawn(tasks, future, "composite::circles::secret", None);
    tasks.graph.perhaps(&both);

    let pair = Pair::new();
    let future = read_then(pair.guard(), pair.theirs, silent().await);
    let both = pair.spawn(tasks, future, "composite::circles::read_then", None);
    tasks.graph.possible_deadlock(&both);
}
