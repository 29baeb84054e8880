//! Values of types whose members say little: locks, channels, handles, times. The truth has the text
//! that they print themselves, or one made of what their methods say.

mod futures;
mod standard;
mod sync;
mod tasks;

use std::future::Future;

use tokio::sync::oneshot;
use truth::{here, Task, Truth};

/// The tasks that wait so that others have something to show.
pub struct Waiters(Vec<Option<u64>>);

impl Waiters {
    pub fn add<F>(&mut self, future: F)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        self.0.push(truth::id(&tokio::spawn(waiter(future))));
    }
}

pub async fn waiter<F: Future>(future: F) {
    here!("values::waiter");
    future.await;
}

/// A text of a variable that is not that of `{:?}`.
#[macro_export]
macro_rules! shown {
    ($function:expr, $name:ident, $($text:tt)+) => {
        truth::local($function, stringify!($name), Some(format!($($text)+)));
    };
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut waiters = Waiters(Vec::new());
    let mut truth = Truth::new("values").runtime(truth_tokio::current("multi_thread", 2));
    macro_rules! spawn {
        ($($name:literal => $future:expr;)*) => {
            $({
                let id = truth::id(&tokio::spawn($future));
                truth = truth.task(Task::idle(id, &[$name]).sleeps());
            })*
        };
    }
    spawn! {
        "values::sync::locks" => sync::make_locks(&mut waiters);
        "values::sync::channels" => sync::make_channels(&mut waiters);
        "values::sync::oneshots" => sync::make_oneshots(&mut waiters);
        "values::sync::shared" => sync::make_shared(&mut waiters);
        "values::sync::cells" => sync::cells();
        "values::tasks::handles" => tasks::make_handles(&mut waiters);
        "values::tasks::times" => tasks::times();
        "values::standard::cells" => standard::cells();
        "values::standard::tails" => standard::tails();
        "values::standard::locks" => standard::locks();
        "values::standard::channels" => standard::channels();
        "values::standard::owners" => standard::owners();
        "values::standard::errors" => standard::errors();
        "values::futures::channels" => futures::channels();
        "values::futures::sets" => futures::sets();
    }
    let (own, receiver) = oneshot::channel();
    let id = truth::id(&tokio::spawn(tasks::wakers(receiver)));
    own.send(id.unwrap()).unwrap();
    truth
        .task(Task::idle(id, &["values::tasks::wakers"]).sleeps())
        .task(Task::all_idle(waiters.0, &["values::waiter"]))
        .block_on(&["values::main::{async_block#0}"])
        .publish();
    here!("values::main::{async_block#0}");
    std::future::pending::<()>().await;
}
