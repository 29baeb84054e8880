//! Futures that a frame has but does not poll.

use std::future::Future;
use std::pin::Pin;

use truth::here;
use truth::tree::{at, fresh};
use truth::Task;

use crate::{doze, nap, quick, spawn};

async fn stored() {
    let later = doze();
    here!("selects::held::stored");
    nap().await;
    let _ = later.await;
}

async fn boxed() {
    let mut later = vec![Box::pin(doze()), Box::pin(doze())];
    here!("selects::held::boxed");
    nap().await;
    for one in &mut later {
        let _ = one.as_mut().await;
    }
}

async fn behind_dyn() {
    let later: Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>> = Box::pin(doze());
    here!("selects::held::behind_dyn");
    nap().await;
    let _ = later.await;
}

/// The arm of a select! that another one was quicker than.
async fn loser() {
    let slow = doze();
    tokio::pin!(slow);
    tokio::select! {
        biased;
        _ = &mut slow => {}
        _ = quick() => {}
    }
    here!("selects::held::loser");
    nap().await;
    let _ = slow.await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    vec![
        spawn(
            stored(),
            at("selects::held::stored").then(at("selects::nap")).held(fresh("selects::doze")),
        ),
        spawn(
            boxed(),
            at("selects::held::boxed")
                .then(at("selects::nap"))
                .held(fresh("selects::doze").times(2)),
        ),
        spawn(
            behind_dyn(),
            at("selects::held::behind_dyn").then(at("selects::nap")).held(fresh("selects::doze")),
        ),
        spawn(
            loser(),
            at("selects::held::loser").then(at("selects::nap")).held(at("selects::doze")),
        ),
    ]
}
