//! Futures that other futures were given: as arguments and captured variables, before the first
//! poll and later.

use std::future::Future;
use std::pin::Pin;

use futures_util::future::poll_immediate;
use truth::here;
use truth::tree::{at, fresh, Node};
use truth::Task;

use crate::{doze, nap, quick, spawn};

/// Never polled here.
async fn in_order<F: Future, G: Future>(first: F, second: G) {
    first.await;
    second.await;
}

/// Nothing of what it was given can have been moved out.
async fn unpolled() {
    let later = in_order(doze(), Box::pin(nap()));
    here!("selects::arguments::unpolled");
    nap().await;
    later.await;
}

async fn unpolled_block() {
    let first = doze();
    let later = async move { first.await };
    here!("selects::arguments::unpolled_block");
    nap().await;
    let _ = later.await;
}

async fn nested() {
    let later = Box::pin(in_order(in_order(doze(), quick()), nap()));
    here!("selects::arguments::nested");
    nap().await;
    later.await;
}

/// A block that refers to a future of the frame around it.
async fn by_reference() {
    let mut first = Box::pin(doze());
    let later = async {
        let _ = first.as_mut().await;
    };
    here!("selects::arguments::by_reference");
    nap().await;
    later.await;
}

type Boxed = Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>>;

async fn polled_once(mut first: Boxed) {
    assert!(poll_immediate(first.as_mut()).await.is_none());
    here!("selects::arguments::polled_once");
    nap().await;
    let _ = first.await;
}

async fn selected<F: Future>(mut first: Pin<Box<F>>) {
    tokio::select! {
        biased;
        _ = &mut first => {}
        _ = quick() => {}
    }
    here!("selects::arguments::selected");
    nap().await;
    first.await;
}

async fn pinned<F: Future>(first: F) {
    tokio::pin!(first);
    tokio::select! {
        biased;
        _ = &mut first => {}
        _ = quick() => {}
    }
    here!("selects::arguments::pinned");
    nap().await;
    first.await;
}

/// Not used before its await.
async fn kept<F: Future>(first: F) {
    here!("selects::arguments::kept");
    nap().await;
    first.await;
}

/// The capture still has its bits.
async fn given_away(first: Boxed) {
    std::mem::forget(first);
    here!("selects::arguments::given_away");
    nap().await;
}

/// So has the variable that it was moved into; the drop flag that is false may be another one's.
async fn shown_and_given_away(mut first: Boxed) {
    assert!(poll_immediate(first.as_mut()).await.is_none());
    std::mem::forget(first);
    here!("selects::arguments::shown_and_given_away");
    nap().await;
}

fn holds(name: &'static str, held: &[Node]) -> Node {
    held.iter().fold(at(name).then(at("selects::nap")), |node, each| node.held(each.clone()))
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let fresh_doze = || fresh("selects::doze").certain();
    let in_order =
        |first, second| fresh("selects::arguments::in_order").held(first).held(second).certain();
    let polled = [at("selects::doze").certain()];
    let mut tasks = vec![
        spawn(
            unpolled(),
            holds(
                "selects::arguments::unpolled",
                &[in_order(fresh_doze(), fresh("selects::nap").certain())],
            ),
        ),
        spawn(
            unpolled_block(),
            holds(
                "selects::arguments::unpolled_block",
                &[fresh("selects::arguments::unpolled_block::{async_block#0}").held(fresh_doze())],
            ),
        ),
        spawn(
            nested(),
            holds(
                "selects::arguments::nested",
                &[in_order(
                    in_order(fresh_doze(), fresh("selects::quick")),
                    fresh("selects::nap").certain(),
                )],
            ),
        ),
        spawn(
            by_reference(),
            holds(
                "selects::arguments::by_reference",
                &[
                    fresh("selects::arguments::by_reference::{async_block#0}"),
                    fresh("selects::doze"),
                ],
            ),
        ),
        spawn(polled_once(Box::pin(doze())), holds("selects::arguments::polled_once", &polled)),
        spawn(selected(Box::pin(doze())), holds("selects::arguments::selected", &polled)),
        spawn(pinned(doze()), holds("selects::arguments::pinned", &polled)),
        spawn(kept(doze()), holds("selects::arguments::kept", &[fresh("selects::doze")])),
    ];
    tasks.extend([
        spawn(given_away(Box::pin(doze())), holds("selects::arguments::given_away", &[])),
        spawn(
            shown_and_given_away(Box::pin(doze())),
            holds(
                "selects::arguments::shown_and_given_away",
                &[at("selects::doze").note("may have been moved out")],
            ),
        ),
    ]);
    tasks
}
