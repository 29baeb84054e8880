//! Futures that are polled by delegation: is the waker of the task that polls them stored in what
//! they wait for? Where no waker of a task is stored anywhere, nothing will wake it.

mod delegates;

use std::future::{pending, Future};
use std::pin::Pin;
use std::sync::mpsc;

use delegates::{Delegate, Forwarded, Kept, Muted, Silent};
use futures_util::future::{poll_immediate, Either, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::sleep;
use truth::tree::at;
use truth::{here, leak, Task, Truth, Wait, FOREVER};
use truth_tokio::Tasks;

type Receiver = oneshot::Receiver<()>;
type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A channel whose sender does nothing.
fn channel() -> Receiver {
    let (sender, receiver) = oneshot::channel();
    leak(sender);
    receiver
}

async fn wait<F: Future>(future: F) {
    here!("armed::wait");
    future.await;
}

async fn receive(receiver: Receiver) {
    here!("armed::receive");
    let _ = receiver.await;
}

/// Polls a future once, and never again.
async fn once(receiver: Receiver) {
    let mut first = Box::pin(receive(receiver));
    assert!(poll_immediate(first.as_mut()).await.is_none());
    here!("armed::once");
    sleep(FOREVER).await;
    first.await;
}

/// The same, and then waits for what stores no waker: that of the first poll is left.
async fn once_and_silent(receiver: Receiver) {
    let mut first = Box::pin(receive(receiver));
    assert!(poll_immediate(first.as_mut()).await.is_none());
    here!("armed::once_and_silent");
    Silent::default().await;
    first.await;
}

/// Polls a future once and gives it away.
async fn give(receiver: Receiver, to: mpsc::Sender<Boxed>) {
    let mut first: Boxed = Box::pin(receive(receiver));
    assert!(poll_immediate(first.as_mut()).await.is_none());
    to.send(first).expect("nobody takes it");
    here!("armed::give");
    sleep(FOREVER).await;
}

type Set = FuturesUnordered<Boxed>;

async fn give_set(receiver: Receiver, to: mpsc::Sender<Set>) {
    let mut set = Set::new();
    set.push(Box::pin(receive(receiver)));
    assert!(poll_immediate(set.next()).await.is_none());
    to.send(set).expect("nobody takes it");
    here!("armed::give_set");
    sleep(FOREVER).await;
}

async fn set(receiver: Receiver) {
    let mut set = Set::new();
    set.push(Box::pin(receive(receiver)));
    here!("armed::set");
    set.next().await;
}

async fn join_set(receiver: Receiver, ids: mpsc::Sender<Option<u64>>) {
    let mut set = JoinSet::new();
    ids.send(truth::id(&set.spawn(receive(receiver)))).expect("nobody wants it");
    here!("armed::join_set");
    set.join_next().await;
}

/// Two ways on, one of which has no waker.
async fn select(receiver: Receiver) {
    let muted = Muted(receiver);
    here!("armed::select");
    tokio::select! {
        _ = muted => {}
        _ = sleep(FOREVER) => {}
    }
}

fn oneshot(armed: &str) -> Wait {
    Wait::new("oneshot").with("armed", armed)
}

fn plain(tasks: &mut Tasks) {
    tasks.spawn(wait(channel()), "armed::wait", oneshot("yes"));
    tasks.spawn(wait(Delegate(channel())), "armed::wait", oneshot("yes"));
    tasks.spawn(wait(Forwarded(channel())), "armed::wait", oneshot("unknown"));
    let never = Wait::new("pending").with("armed", "no");
    tasks.spawn(wait(pending::<()>()), "armed::wait", never.clone());
    tasks.spawn(wait(pending::<()>().map(drop)), "armed::wait", never.clone());
    let either = Either::<_, Delegate<Receiver>>::Left(pending());
    tasks.spawn(wait(either), "armed::wait", never);
    let node = tasks.spawn(wait(Muted(channel())), "armed::wait", oneshot("no"));
    tasks.graph.silent(node);
    let nothing = Wait::new("nothing").with("armed", "no");
    let node = tasks.spawn(wait(Silent::default()), "armed::wait", nothing);
    tasks.graph.silent(node);
}

fn sets(tasks: &mut Tasks) {
    let tree = at("armed::set").set(at("armed::receive"));
    tasks.spawn_tree(set(channel()), tree, Some(oneshot("yes")));
    let (ids, id) = mpsc::channel();
    let wait = Wait::new("join_set").with("armed", "yes");
    tasks.spawn(join_set(channel(), ids), "armed::join_set", wait);
    let id = id.recv().expect("it spawns nothing");
    tasks.tasks.push(Task::idle(id, &["armed::receive"]).waits(oneshot("yes")));
}

/// The waker that is stored is that of the task that polled it first, unless it is polled again.
fn moved(tasks: &mut Tasks) {
    for polled in [true, false] {
        let (to, from) = mpsc::channel();
        tasks.spawn(give(channel(), to), "armed::give", Wait::new("sleep").with("armed", "yes"));
        let first = from.recv().expect("it gives nothing");
        let tree = at("armed::wait").then(at("armed::receive"));
        if polled {
            tasks.spawn_tree(wait(first), tree, Some(oneshot("yes")));
        } else {
            let kept = Kept::new(first);
            let node = tasks.spawn_tree(wait(kept), tree, Some(oneshot("no")));
            tasks.graph.silent(node);
        }
    }
    let (to, from) = mpsc::channel();
    let sleeps = Wait::new("sleep").with("armed", "yes");
    tasks.spawn(give_set(channel(), to), "armed::give_set", sleeps);
    let kept = Kept::new(from.recv().expect("it gives nothing"));
    let tree = at("armed::wait").set(at("armed::receive"));
    let node = tasks.spawn_tree(wait(kept), tree, Some(oneshot("no")));
    tasks.graph.silent(node);
}

/// Clones of one future: all of them are woken if their wakers are in its list.
fn shared(tasks: &mut Tasks) {
    let future = receive(channel()).boxed().shared();
    let inner = || at("armed::wait").then(at("armed::receive"));
    tasks.spawn_tree(wait(future.clone()), inner(), Some(oneshot("yes")));
    let other = at("armed::wait").then(at("armed::receive").shared());
    tasks.spawn_tree(wait(future.clone()), other.clone(), Some(oneshot("yes")));
    let node = tasks.spawn_tree(wait(Kept::new(future)), other, Some(oneshot("no")));
    tasks.graph.silent(node);
}

/// Tasks to which nothing but an AbortHandle refers; it may be a waker as far as their counts tell.
#[cfg(feature = "since_1_28")]
fn abortable(tasks: &mut Tasks) {
    let handle = tokio::spawn(wait(channel()));
    leak(handle.abort_handle());
    let row = Task::idle(truth::id(&handle), &["armed::wait"]);
    tasks.tasks.push(row.waits(oneshot("yes")));
    let handle = tokio::spawn(wait(Silent::default()));
    leak(handle.abort_handle());
    let row = Task::idle(truth::id(&handle), &["armed::wait"]);
    tasks.tasks.push(row.waits(Wait::new("unknown").with("armed", "unknown")));
}

fn several(tasks: &mut Tasks) {
    let sleeps = Wait::new("sleep").with("armed", "yes");
    let tree = at("armed::once").held(at("armed::receive"));
    tasks.spawn_tree(once(channel()), tree, Some(sleeps.clone()));
    tasks.beside(oneshot("yes"));
    let tree = at("armed::once_and_silent").held(at("armed::receive"));
    tasks.spawn_tree(once_and_silent(channel()), tree, Some(oneshot("yes")));
    tasks.beside(Wait::new("unknown").with("armed", "unknown"));
    let (handle, _) = Tasks::start(select(channel()));
    let row = Task::idle(truth::id(&handle), &["armed::select"]);
    tasks.tasks.push(row.beside(sleeps).beside(oneshot("no")));
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    plain(&mut tasks);
    sets(&mut tasks);
    moved(&mut tasks);
    several(&mut tasks);
    shared(&mut tasks);
    #[cfg(feature = "since_1_28")]
    abortable(&mut tasks);
    Truth::new("armed")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .graph(tasks.graph)
        .block_on(&["armed::main::{async_block#0}"])
        .publish();
    here!("armed::main::{async_block#0}");
    sleep(FOREVER).await;
}
