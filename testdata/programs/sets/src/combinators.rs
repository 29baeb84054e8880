use std::panic::AssertUnwindSafe;

use futures_util::future::{self, Either, FutureExt, OptionFuture, Shared, TryFutureExt};
use tokio::time::sleep;
use truth::here;
use truth::tree::at;
use truth::{Task, FOREVER};

use crate::{doze, nap, quick, spawn};

/// How both tasks are told that wait for one future.
const SHARED: &str = "shared by 2 futures";

async fn select() {
    here!("sets::combinators::select");
    future::select(Box::pin(nap()), Box::pin(doze())).await;
}

async fn either(left: bool) {
    let future = if left { Either::Left(nap()) } else { Either::Right(doze().map(|_| ())) };
    here!("sets::combinators::either");
    future.await
}

async fn fuse() {
    here!("sets::combinators::fuse");
    nap().fuse().await;
}

async fn map() {
    here!("sets::combinators::map");
    doze().map(|result| result.is_ok()).await;
}

async fn then_first() {
    here!("sets::combinators::then_first");
    nap().then(|()| doze()).await.ok();
}

async fn then_second() {
    here!("sets::combinators::then_second");
    quick().then(|_| doze()).await.ok();
}

async fn and_then() {
    here!("sets::combinators::and_then");
    quick().and_then(|_| doze()).map_err(|()| 1).await.ok();
}

async fn option() {
    here!("sets::combinators::option");
    OptionFuture::from(Some(nap())).await;
}

async fn give_doze() -> Result<future::BoxFuture<'static, Result<u32, ()>>, ()> {
    Ok(doze().boxed())
}

async fn try_flatten() {
    here!("sets::combinators::try_flatten");
    give_doze().try_flatten().await.ok();
}

async fn abortable() {
    let (future, handle) = future::abortable(nap());
    here!("sets::combinators::abortable");
    let _ = future.await;
    drop(handle);
}

async fn catch_unwind() {
    here!("sets::combinators::catch_unwind");
    let _ = AssertUnwindSafe(nap()).catch_unwind().await;
}

async fn local_box() {
    here!("sets::combinators::local_box");
    nap().boxed().map(|()| 1).boxed().await;
}

async fn work() -> u32 {
    here!("sets::combinators::work");
    sleep(FOREVER).await;
    1
}

async fn share(work: Shared<future::BoxFuture<'static, u32>>) {
    here!("sets::combinators::share");
    work.await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let shared = work().boxed().shared();
    let one = |future, name| spawn(future, at(name).then(at("sets::nap")));
    let mut tasks = vec![
        spawn(
            select(),
            at("sets::combinators::select").select(0, at("sets::nap")).select(1, at("sets::doze")),
        ),
        spawn(either(true), at("sets::combinators::either").then(at("sets::nap"))),
        spawn(either(false), at("sets::combinators::either").then(at("sets::doze"))),
        spawn(map(), at("sets::combinators::map").then(at("sets::doze"))),
        spawn(then_second(), at("sets::combinators::then_second").then(at("sets::doze"))),
        spawn(and_then(), at("sets::combinators::and_then").then(at("sets::doze"))),
        spawn(try_flatten(), at("sets::combinators::try_flatten").then(at("sets::doze"))),
        spawn(
            share(shared.clone()),
            at("sets::combinators::share").then(at("sets::combinators::work").note(SHARED)),
        ),
        spawn(
            share(shared),
            at("sets::combinators::share")
                .then(at("sets::combinators::work").shared().note(SHARED)),
        ),
    ];
    tasks.extend([
        one(fuse().boxed(), "sets::combinators::fuse"),
        one(then_first().boxed(), "sets::combinators::then_first"),
        one(option().boxed(), "sets::combinators::option"),
        one(abortable().boxed(), "sets::combinators::abortable"),
        one(catch_unwind().boxed(), "sets::combinators::catch_unwind"),
        one(local_box().boxed(), "sets::combinators::local_box"),
    ]);
    tasks
}
