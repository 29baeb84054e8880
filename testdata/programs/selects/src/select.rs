use futures_util::future::poll_fn;
use futures_util::FutureExt;
use tokio::time::sleep;
use truth::here;
use truth::tree::{at, fresh, library, returned};
use truth::{Task, Wait, FOREVER};

use crate::{doze, nap, quick, spawn};

async fn two() {
    here!("selects::select::two");
    tokio::select! {
        _ = nap() => {}
        _ = doze() => {}
    }
}

async fn three() {
    here!("selects::select::three");
    tokio::select! {
        biased;
        _ = sleep(FOREVER) => {}
        _ = Box::pin(nap()) => {}
        _ = doze() => {}
    }
}

async fn precondition(enabled: bool) {
    here!("selects::select::precondition");
    tokio::select! {
        _ = doze(), if enabled => {}
        _ = nap() => {}
    }
}

async fn absent() -> Option<u32> {
    None
}

async fn mismatch() {
    here!("selects::select::mismatch");
    tokio::select! {
        _ = nap() => {}
        Some(_) = absent() => {}
    }
}

/// An arm that finished in the first round and is switched off in the second.
async fn rounds() {
    let first = quick();
    let second = nap();
    tokio::pin!(first, second);
    let mut finished = false;
    loop {
        here!("selects::select::rounds");
        tokio::select! {
            _ = &mut first, if !finished => finished = true,
            _ = &mut second => break,
        }
    }
}

async fn nested() {
    here!("selects::select::nested");
    tokio::select! {
        _ = two() => {}
        _ = crate::join::both() => {}
    }
}

async fn of_futures() {
    let first = nap().fuse();
    let second = doze().fuse();
    futures_util::pin_mut!(first, second);
    here!("selects::select::of_futures");
    futures_util::select! {
        _ = first => {}
        _ = second => {}
    }
}

/// An arm that finished in the first round.
async fn rounds_of_futures() {
    let first = quick().fuse();
    let second = nap().fuse();
    futures_util::pin_mut!(first, second);
    loop {
        here!("selects::select::rounds_of_futures");
        futures_util::select! {
            _ = first => {}
            _ = second => {}
            complete => break,
        }
    }
}

/// Receivers are no futures, but the closure waits for them beside one.
async fn closure_of_receivers() {
    let (_first_sender, mut first) = tokio::sync::mpsc::channel::<u8>(1);
    let (_second_sender, mut second) = tokio::sync::mpsc::unbounded_channel::<u8>();
    let mut third = Box::pin(nap());
    let all = poll_fn(|cx| {
        let _ = first.poll_recv(cx);
        let _ = second.poll_recv(cx);
        third.poll_unpin(cx)
    });
    here!("selects::select::closure_of_receivers");
    all.await;
}

/// A closure that polls what it captured, one by reference and one by value.
async fn closure() {
    let mut first = Box::pin(nap());
    let mut second = Box::pin(doze());
    let both = poll_fn(|cx| {
        let _ = first.as_mut().poll_unpin(cx);
        second.poll_unpin(cx)
    });
    here!("selects::select::closure");
    let _ = both.await;
}

async fn closure_by_value() {
    let mut first = Box::pin(nap());
    here!("selects::select::closure_by_value");
    poll_fn(move |cx| first.poll_unpin(cx)).await;
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let two_arms =
        || at("selects::select::two").select(0, at("selects::nap")).select(1, at("selects::doze"));
    vec![
        spawn(two(), two_arms()),
        spawn(
            three(),
            at("selects::select::three")
                .select(0, library())
                .select(1, at("selects::nap"))
                .select(2, at("selects::doze")),
        ),
        spawn(
            precondition(false),
            at("selects::select::precondition")
                .select(0, fresh("selects::doze").disabled())
                .select(1, at("selects::nap")),
        ),
        spawn(
            mismatch(),
            at("selects::select::mismatch")
                .select(0, at("selects::nap"))
                .select(1, returned("selects::select::absent").disabled()),
        ),
        spawn(
            rounds(),
            at("selects::select::rounds")
                .select(0, returned("selects::quick").disabled())
                .select(1, at("selects::nap")),
        ),
        spawn(
            nested(),
            at("selects::select::nested").select(0, two_arms()).select(1, crate::join::both_arms()),
        ),
        spawn(
            of_futures(),
            at("selects::select::of_futures")
                .select(0, at("selects::nap"))
                .select(1, at("selects::doze")),
        ),
        spawn(
            rounds_of_futures(),
            at("selects::select::rounds_of_futures")
                .select(0, library().disabled())
                .select(1, at("selects::nap")),
        ),
        spawn(
            closure_of_receivers(),
            at("selects::select::closure_of_receivers").polls(at("selects::nap")),
        )
        .beside(Wait::new("mpsc_recv").with("capacity", 1))
        .beside(Wait::new("mpsc_recv").with("senders", 1).with("queued", 0)),
        spawn(
            closure(),
            at("selects::select::closure").polls(at("selects::nap")).polls(at("selects::doze")),
        ),
        spawn(
            closure_by_value(),
            at("selects::select::closure_by_value").polls(at("selects::nap")),
        ),
    ]
}
