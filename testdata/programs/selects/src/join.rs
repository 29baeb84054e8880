use futures_util::future;
use truth::here;
use truth::tree::{at, done, Node};
use truth::Task;

use crate::{doze, nap, quick, spawn};

pub(crate) async fn both() {
    here!("selects::join::both");
    let _ = tokio::join!(nap(), doze());
}

pub(crate) fn both_arms() -> Node {
    at("selects::join::both").join(0, at("selects::nap")).join(1, at("selects::doze"))
}

async fn one_done() {
    here!("selects::join::one_done");
    let _ = tokio::join!(nap(), quick(), doze());
}

async fn tried() {
    here!("selects::join::tried");
    let _ = tokio::try_join!(quick(), doze());
}

async fn of_futures() {
    here!("selects::join::of_futures");
    let _ = futures_util::join!(quick(), nap(), doze());
}

async fn tried_of_futures() {
    here!("selects::join::tried_of_futures");
    let _ = futures_util::try_join!(doze(), quick());
}

/// The combinator behind the macro, as a function.
async fn function() {
    here!("selects::join::function");
    let _ = future::join3(nap(), quick(), doze()).await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    vec![
        spawn(both(), both_arms()),
        spawn(
            one_done(),
            at("selects::join::one_done")
                .join(0, at("selects::nap"))
                .join(1, done())
                .join(2, at("selects::doze")),
        ),
        spawn(tried(), at("selects::join::tried").join(0, done()).join(1, at("selects::doze"))),
        spawn(
            of_futures(),
            at("selects::join::of_futures")
                .join(0, done())
                .join(1, at("selects::nap"))
                .join(2, at("selects::doze")),
        ),
        spawn(
            tried_of_futures(),
            at("selects::join::tried_of_futures").join(0, at("selects::doze")).join(1, done()),
        ),
        spawn(
            function(),
            at("selects::join::function")
                .join(0, at("selects::nap"))
                .join(1, done())
                .join(2, at("selects::doze")),
        ),
    ]
}
