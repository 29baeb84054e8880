use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{FuturesOrdered, FuturesUnordered, StreamExt};
use tokio::sync::{mpsc, Notify};
use tokio::time::{sleep, timeout};
use truth::tree::{at, done, fresh, library, Node};
use truth::{here, Task, FOREVER};

use crate::traced::{child, traced};

async fn nap() {
    here!("dump::tasks::nap");
    sleep(FOREVER).await;
}

async fn listen() {
    let (_sender, mut receiver) = mpsc::channel::<u32>(1);
    here!("dump::tasks::listen");
    receiver.recv().await;
}

async fn notified() {
    let notify = Arc::new(Notify::new());
    here!("dump::tasks::notified");
    notify.notified().await;
}

async fn quick() {}

async fn chain() {
    here!("dump::tasks::chain");
    middle(3).await;
}

async fn middle(depth: u32) {
    if depth > 0 {
        here!("dump::tasks::middle");
        deeper(depth - 1).await;
    } else {
        here!("dump::tasks::middle bottom");
        nap().await;
    }
}

fn deeper(depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(middle(depth))
}

async fn select() {
    here!("dump::tasks::select");
    tokio::select! {
        _ = nap() => {}
        _ = listen(), if false => {}
        _ = notified() => {}
        _ = sleep(FOREVER) => {}
    }
}

async fn join() {
    here!("dump::tasks::join");
    tokio::join!(nap(), quick(), listen());
}

async fn join_of_futures() {
    here!("dump::tasks::join_of_futures");
    futures_util::future::join(nap(), listen()).await;
}

async fn limited() {
    here!("dump::tasks::limited");
    let _ = timeout(FOREVER, notified()).await;
}

async fn unordered(count: usize) {
    let mut set = FuturesUnordered::new();
    for _ in 0..count {
        set.push(child(nap()));
    }
    here!("dump::tasks::unordered");
    while set.next().await.is_some() {}
}

async fn ordered() {
    let mut set = FuturesOrdered::new();
    set.push_back(child(join()));
    set.push_back(child(join()));
    here!("dump::tasks::ordered");
    while set.next().await.is_some() {}
}

async fn all() {
    here!("dump::tasks::all");
    join_all([nap(), nap(), nap()]).await;
}

async fn nested() {
    let held = notified();
    here!("dump::tasks::nested");
    tokio::select! {
        _ = join() => {}
        _ = unordered(3) => {}
        _ = limited() => {}
        _ = select() => {}
    }
    held.await;
}

fn spawn<F>(future: F, tree: Node) -> Task
where
    F: Future + Send + 'static,
    F::Output: Debug + Send + 'static,
{
    Task::idle_tree(truth::id(&tokio::spawn(traced(future))), tree)
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let nap_node = || at("dump::tasks::nap");
    let listen_node = || at("dump::tasks::listen");
    let notified_node = || at("dump::tasks::notified");
    let middle_node = |node| at("dump::tasks::middle").then(node);
    let bottom = at("dump::tasks::middle bottom").then(nap_node());
    let select_node = || {
        at("dump::tasks::select")
            .select(0, nap_node())
            .select(1, fresh("dump::tasks::listen").disabled())
            .select(2, notified_node())
            .select(3, library())
    };
    let join_node =
        || at("dump::tasks::join").join(0, nap_node()).join(1, done()).join(2, listen_node());
    let limited_node = || at("dump::tasks::limited").then(notified_node());
    let set = |count| at("dump::tasks::unordered").set(nap_node().times(count));
    vec![
        spawn(
            chain(),
            at("dump::tasks::chain").then(middle_node(middle_node(middle_node(bottom)))),
        ),
        spawn(select(), select_node()),
        spawn(join(), join_node()),
        spawn(
            join_of_futures(),
            at("dump::tasks::join_of_futures").join(0, nap_node()).join(1, listen_node()),
        ),
        spawn(limited(), limited_node()),
        spawn(unordered(1), set(1)),
        spawn(unordered(20), set(20)),
        spawn(ordered(), at("dump::tasks::ordered").set(join_node().times(2))),
        spawn(all(), at("dump::tasks::all").set(nap_node().times(3))),
        spawn(
            nested(),
            at("dump::tasks::nested")
                .select(0, join_node())
                .select(1, set(3))
                .select(2, limited_node())
                .select(3, select_node())
                .held(fresh("dump::tasks::notified")),
        ),
    ]
}
