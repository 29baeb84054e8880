use futures_util::future::{self, BoxFuture, FutureExt};
use futures_util::stream::{FuturesOrdered, FuturesUnordered, StreamExt};
use truth::here;
use truth::tree::{at, done, fresh, library, Node};
use truth::{Task, FOREVER};

use crate::{doze, nap, quick, spawn};

async fn many(count: usize) {
    let mut set = FuturesUnordered::new();
    for _ in 0..count {
        set.push(nap());
    }
    here!("sets::unordered::many");
    while set.next().await.is_some() {}
}

fn many_tree(count: usize) -> Node {
    at("sets::unordered::many").set(at("sets::nap").times(count))
}

async fn empty() {
    let mut set = FuturesUnordered::new();
    set.push(quick());
    while set.next().await.is_some() {}
    here!("sets::unordered::empty");
    nap().await;
    drop(set);
}

async fn mixed() {
    let mut set: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
    set.push(nap().boxed());
    set.push(quick().map(|_| ()).boxed());
    set.push(doze().map(|_| ()).boxed());
    set.push(tokio::time::sleep(FOREVER).boxed());
    // Twice: when one has finished, the others are polled all the same.
    here!("sets::unordered::mixed");
    while set.next().await.is_some() {}
}

async fn nested() {
    let mut set = FuturesUnordered::new();
    set.push(many(2));
    set.push(many(3));
    here!("sets::unordered::nested");
    while set.next().await.is_some() {}
}

/// Nothing in it was polled.
async fn held() {
    let mut set = FuturesUnordered::new();
    set.push(doze());
    set.push(doze());
    here!("sets::unordered::held");
    nap().await;
    while set.next().await.is_some() {}
}

async fn ordered() {
    let mut set: FuturesOrdered<BoxFuture<'static, ()>> = FuturesOrdered::new();
    set.push_back(nap().boxed());
    set.push_back(quick().map(|_| ()).boxed());
    set.push_back(doze().map(|_| ()).boxed());
    here!("sets::unordered::ordered");
    while set.next().await.is_some() {}
}

async fn join_few() {
    let futures: Vec<BoxFuture<'static, ()>> =
        vec![nap().boxed(), quick().map(|_| ()).boxed(), doze().map(|_| ()).boxed()];
    here!("sets::unordered::join_few");
    future::join_all(futures).await;
}

async fn join_many() {
    here!("sets::unordered::join_many");
    future::join_all((0..40).map(|_| nap())).await;
}

async fn try_join_few() {
    here!("sets::unordered::try_join_few");
    let _ = future::try_join_all((0..2).map(|_| doze())).await;
}

async fn try_join_many() {
    here!("sets::unordered::try_join_many");
    let _ = future::try_join_all((0..35).map(|_| doze())).await;
}

async fn select_all() {
    here!("sets::unordered::select_all");
    future::select_all((0..3).map(|_| Box::pin(nap()))).await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    vec![
        spawn(many(1), many_tree(1)),
        spawn(many(3), many_tree(3)),
        spawn(many(100), many_tree(100)),
        spawn(empty(), at("sets::unordered::empty").then(at("sets::nap"))),
        spawn(
            mixed(),
            at("sets::unordered::mixed").set(at("sets::nap")).set(at("sets::doze")).set(library()),
        ),
        spawn(nested(), at("sets::unordered::nested").set(many_tree(2)).set(many_tree(3))),
        spawn(
            held(),
            at("sets::unordered::held").then(at("sets::nap")).held(fresh("sets::doze").times(2)),
        ),
        spawn(ordered(), at("sets::unordered::ordered").set(at("sets::nap")).set(at("sets::doze"))),
        spawn(
            join_few(),
            at("sets::unordered::join_few").set(at("sets::nap")).set(done()).set(at("sets::doze")),
        ),
        spawn(join_many(), at("sets::unordered::join_many").set(at("sets::nap").times(40))),
        spawn(try_join_few(), at("sets::unordered::try_join_few").set(at("sets::doze").times(2))),
        spawn(
            try_join_many(),
            at("sets::unordered::try_join_many").set(at("sets::doze").times(35)),
        ),
        spawn(select_all(), at("sets::unordered::select_all").set(at("sets::nap").times(3))),
    ]
}
