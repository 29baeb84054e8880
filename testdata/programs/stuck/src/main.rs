//! Locks of std in async code: their guards are held across an await or on the stack of a worker,
//! and other workers block on them.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{mpsc, Arc, Barrier, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::thread;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use truth::graph::{address, Graph, Node};
use truth::{here, quiet, Blocked, Task, Truth, FOREVER};

type Lock = Mutex<u32>;

fn lock() -> &'static Lock {
    Box::leak(Box::new(Mutex::new(0)))
}

/// A future that is sent although what it holds must not be: the thread that polls it may change
/// while a guard is held. glibc and futexes do not mind, and so it is done.
struct AssertSend<F>(F);

// SAFETY: a futex may be unlocked by any thread.
unsafe impl<F> Send for AssertSend<F> {}

impl<F: Future> Future for AssertSend<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the field is pinned as this is.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

/// Keeps the guard across an await.
async fn hold(lock: &'static Lock, locked: mpsc::Sender<()>) {
    let mut guard = lock.lock().unwrap();
    let _ = locked.send(());
    here!("stuck::hold");
    sleep(FOREVER).await;
    *guard += 1;
}

/// Blocks its thread.
async fn block(lock: &'static Lock) {
    here!("stuck::block");
    *lock.lock().unwrap() += 1;
}

/// Locks one, waits for another to do the same, and blocks its thread on that one's.
#[inline(never)]
fn lock_both(own: &'static Lock, other: &'static Lock, all: &Barrier) {
    let mut held: MutexGuard<'static, u32> = own.lock().unwrap();
    all.wait();
    truth::mark("stuck::lock_both", file!(), line!());
    *held += *other.lock().unwrap().deref();
}

async fn run(own: &'static Lock, other: &'static Lock, all: Arc<Barrier>) {
    here!("stuck::run");
    lock_both(own, other, &all);
}

struct Tasks {
    tasks: Vec<Task>,
    blocked: Vec<Blocked>,
    graph: Graph,
}

impl Tasks {
    /// A task that holds it and sleeps; it does so when this returns.
    fn hold(&mut self, runtime: &Handle, index: usize, lock: &'static Lock) -> Node {
        let (locked, when_locked) = mpsc::channel();
        let id = truth::id(&runtime.spawn(AssertSend(hold(lock, locked))));
        when_locked.recv().expect("it does not lock");
        self.tasks.push(Task::idle(id, &["stuck::hold"]).sleeps().on(index));
        Node::task(id)
    }

    fn block(&mut self, id: Option<u64>, lock: &'static Lock, holder: Node) -> Node {
        self.blocked.push(Blocked::new("std_mutex", id, address(lock)));
        self.graph.waits(Node::task(id), "std_mutex", address(lock), &[holder]);
        Node::task(id)
    }

    /// A task that blocks a worker of this runtime.
    fn spawn(&mut self, runtime: &Handle, index: usize, lock: &'static Lock, by: Node) -> Node {
        let id = truth::id(&runtime.spawn(block(lock)));
        self.tasks.push(Task::blocked(id, "stuck::block").on(index));
        self.block(id, lock, by)
    }
}

/// The worker that is left can poll the holder, and will when it has slept.
fn one_is_left(tasks: &mut Tasks, runtime: &Handle, index: usize) {
    let lock = lock();
    let holder = tasks.hold(runtime, index, lock);
    tasks.spawn(runtime, index, lock, holder);
}

/// The only worker blocks, so nobody polls the holder.
fn none_is_left(tasks: &mut Tasks, runtime: &Handle, index: usize) {
    let lock = lock();
    let holder = tasks.hold(runtime, index, lock);
    let waits = tasks.spawn(runtime, index, lock, holder);
    tasks.graph.deadlock(&[holder, waits]);
}

/// The same with two workers.
fn all_block(tasks: &mut Tasks, runtime: &Handle, index: usize) {
    let lock = lock();
    let holder = tasks.hold(runtime, index, lock);
    let first = tasks.spawn(runtime, index, lock, holder);
    let second = tasks.spawn(runtime, index, lock, holder);
    tasks.graph.deadlock(&[holder, first, second]);
}

/// Two workers that block each other.
fn abba(tasks: &mut Tasks, runtime: &Handle, index: usize) {
    let (a, b, all) = (lock(), lock(), Arc::new(Barrier::new(2)));
    let mut spawn = |own, other| {
        let id = truth::id(&runtime.spawn(run(own, other, all.clone())));
        tasks.tasks.push(Task::blocked(id, "stuck::run").on(index));
        tasks.blocked.push(Blocked::new("std_mutex", id, address(other)));
        Node::task(id)
    };
    let (first, second) = (spawn(a, b), spawn(b, a));
    tasks.graph.waits_for_stack(first, "std_mutex", address(b), &[second]);
    tasks.graph.waits_for_stack(second, "std_mutex", address(a), &[first]);
    tasks.graph.hard_deadlock(&[first, second]);
}

async fn join(other: JoinHandle<()>) {
    here!("stuck::join");
    let _ = other.await;
}

/// Two tasks of a runtime that is one thread: one holds the guard, the other blocks both, and what
/// the thread drives by `block_on` waits for that.
fn one_thread(tasks: &mut Tasks, index: usize) -> truth::Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("cannot start a runtime");
    let described = truth_tokio::describe(runtime.handle(), "current_thread", 1);
    let (lock, (locked, when_locked)) = (lock(), mpsc::channel());
    let (tids, tid) = mpsc::channel();
    let holder = truth::id(&runtime.spawn(AssertSend(hold(lock, locked))));
    let blocks = runtime.spawn(block(lock));
    let id = truth::id(&blocks);
    thread::spawn(move || {
        let _ = tids.send(quiet::own_tid());
        runtime.block_on(join(blocks));
    });
    when_locked.recv().expect("it does not lock");
    tasks.tasks.push(Task::idle(holder, &["stuck::hold"]).sleeps().on(index));
    tasks.tasks.push(Task::blocked(id, "stuck::block").on(index));
    let holder = Node::task(holder);
    let waits = tasks.block(id, lock, holder);
    let root = Node::thread(tid.recv().expect("the thread is gone"));
    tasks.graph.waits(root, "join", None, &[waits]);
    tasks.graph.behind(root);
    tasks.graph.deadlock(&[holder, waits]);
    described
}

/// What `block_on` of another thread holds.
fn root(tasks: &mut Tasks, runtime: &'static Runtime, index: usize) {
    let (lock, (locked, when_locked)) = (lock(), mpsc::channel());
    let (tids, tid) = mpsc::channel();
    thread::spawn(move || {
        let _ = tids.send(quiet::own_tid());
        runtime.block_on(hold(lock, locked));
    });
    when_locked.recv().expect("it does not lock");
    let holder = Node::thread(tid.recv().expect("the thread is gone"));
    tasks.spawn(runtime.handle(), index, lock, holder);
}

fn main() {
    let workers = [3, 1, 2, 2];
    let runtimes = workers.map(|workers| &*Box::leak(Box::new(truth_tokio::multi_thread(workers))));
    let mut tasks = Tasks { tasks: Vec::new(), blocked: Vec::new(), graph: Graph::new() };
    one_is_left(&mut tasks, runtimes[0].handle(), 0);
    root(&mut tasks, runtimes[0], 0);
    none_is_left(&mut tasks, runtimes[1].handle(), 1);
    all_block(&mut tasks, runtimes[2].handle(), 2);
    abba(&mut tasks, runtimes[3].handle(), 3);
    let single = one_thread(&mut tasks, runtimes.len());

    let mut truth = Truth::new("stuck");
    for (runtime, workers) in runtimes.into_iter().zip(workers) {
        truth = truth.runtime(truth_tokio::describe(runtime.handle(), "multi_thread", workers));
    }
    truth
        .runtime(single)
        .tasks(tasks.tasks)
        .blocked(tasks.blocked)
        .graph(tasks.graph)
        .block_on(&["stuck::hold"])
        .block_on(&["stuck::join"])
        .passes("stuck::lock_both")
        .publish();
    loop {
        thread::park();
    }
}
