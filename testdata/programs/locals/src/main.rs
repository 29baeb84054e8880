//! Variables of many types that live across an await, and some that no longer do.

mod gone;
mod owners;
mod plain;
mod std_types;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use truth::{here, Task, Truth};

/// Lets a future that is not `Send` be spawned: nothing here ever moves on.
struct Confined<F>(Pin<Box<F>>);

// Its parts are made by its first poll and stay with the one task.
unsafe impl<F> Send for Confined<F> {}

impl<F: Future> Future for Confined<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll(cx)
    }
}

fn confined<F: Future>(make: impl FnOnce() -> F) -> Confined<F> {
    Confined(Box::pin(make()))
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut truth = Truth::new("locals").runtime(truth_tokio::current("multi_thread", 2));
    macro_rules! spawn {
        ($($($name:literal),+ => $future:expr;)*) => {
            $({
                let id = truth::id(&tokio::spawn($future));
                truth = truth.task(Task::idle(id, &[$($name),+]).sleeps());
            })*
        };
    }
    spawn! {
        "locals::plain::scalars" => plain::scalars();
        "locals::plain::floats" => plain::floats();
        "locals::plain::texts" => plain::texts();
        "locals::plain::compounds" => plain::compounds();
        "locals::plain::enums" => plain::enums();
        "locals::plain::sequences" => plain::sequences();
        "locals::plain::arguments" => plain::arguments(5, "five".to_string(), &[1, 2, 3]);
        "locals::owners::owners" => confined(owners::owners);
        "locals::owners::locks" => owners::locks();
        "locals::owners::objects" => confined(owners::objects);
        "locals::std_types::maps" => std_types::maps();
        "locals::std_types::deques" => std_types::deques();
        "locals::std_types::times" => std_types::times();
        "locals::std_types::addresses" => std_types::addresses();
        "locals::std_types::names" => std_types::names();
        "locals::gone::dropped" => gone::dropped(false);
        "locals::gone::perhaps" => gone::perhaps(true);
        "locals::gone::passed", "locals::gone::take" => gone::passed("passed".to_string(), vec![1]);
        "locals::gone::matched" => gone::matched(3);
        "locals::gone::later" => gone::later(false);
        "locals::gone::borrowed", "locals::gone::borrowed::{async_block#0}" =>
            gone::borrowed("outer".to_string());
        "locals::gone::released" => gone::released();
        "locals::gone::parts" => gone::parts();
        "locals::gone::block", "locals::gone::block::{async_block#0}" => gone::block("outer".to_string());
    }
    truth.block_on(&["locals::main::{async_block#0}"]).publish();
    here!("locals::main::{async_block#0}");
    std::future::pending::<()>().await;
}
