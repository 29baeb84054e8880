//! Variables that hold futures, or held them before these were moved out.

use std::future::Future;
use std::pin::Pin;

use truth::here;
use truth::tree::{at, fresh, Node};
use truth::Task;

use crate::{doze, nap, spawn};

const MOVED: &str = "may have been moved out";

/// Keeps a value for good, so that its bytes stay what they are.
fn give_away<T: Send + 'static>(value: T) {
    Box::leak(Box::new(value));
}

fn look<T>(_: &T) {}

/// Borrowed by a call and kept.
async fn list_kept() {
    let mut list = Vec::new();
    list.push(Box::pin(doze()));
    look(&list);
    here!("selects::moved::list_kept");
    nap().await;
    drop(list);
}

/// Borrowed and then moved: a drop flag says so.
async fn list_moved() {
    let mut list = Vec::new();
    list.push(Box::pin(doze()));
    look(&list);
    give_away(list);
    here!("selects::moved::list_moved");
    nap().await;
}

/// The drop flag that is false does not say which of the two it belongs to.
async fn one_of_two() {
    let (kept, moved) = (Box::pin(doze()), Box::pin(doze()));
    look(&kept);
    look(&moved);
    give_away(moved);
    here!("selects::moved::one_of_two");
    nap().await;
    drop(kept);
}

/// Behind a pointer, used later: its drop flag is true.
async fn later() {
    let object: Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>> = Box::pin(doze());
    look(&object);
    here!("selects::moved::later");
    nap().await;
    let _ = object.await;
}

/// A part that is moved out needs no drop flag if nothing could unwind before.
async fn part() {
    let pair = (Box::pin(doze()), Box::pin(doze()));
    give_away(pair.0);
    here!("selects::moved::part");
    nap().await;
    drop(pair.1);
}

/// The variable is saved because its discriminant is read when it is dropped.
async fn payload() {
    let option = Some(Box::pin(doze()));
    if let Some(future) = option {
        give_away(future);
    }
    here!("selects::moved::payload");
    nap().await;
}

/// The box is still there, what was in it is not.
async fn content() {
    let boxed = Box::new(doze());
    let future = *boxed;
    here!("selects::moved::content");
    nap().await;
    let _ = future.await;
}

fn holds(name: &'static str, held: &[Node]) -> Node {
    held.iter().fold(at(name).then(at("selects::nap")), |node, each| node.held(each.clone()))
}

pub(crate) fn spawn_all() -> Vec<Task> {
    let sure = fresh("selects::doze").certain();
    let open = fresh("selects::doze").note(MOVED);
    let one = |of: &Node| vec![of.clone()];
    vec![
        spawn(list_kept(), holds("selects::moved::list_kept", &one(&sure))),
        spawn(list_moved(), holds("selects::moved::list_moved", &[])),
        spawn(one_of_two(), holds("selects::moved::one_of_two", &[open.clone().times(2)])),
        spawn(later(), holds("selects::moved::later", &one(&sure))),
        spawn(part(), holds("selects::moved::part", &[open.clone().times(2)])),
        spawn(payload(), holds("selects::moved::payload", &one(&open))),
        spawn(content(), holds("selects::moved::content", &[open, sure])),
    ]
}
