//! Many tasks of four kinds. The argument is how many; 10,000 without one.

use std::env;
use std::future::Future;
use std::pin::Pin;

use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn plain(number: usize) -> usize {
    here!("many::plain");
    sleep(FOREVER).await;
    number
}

async fn nested(number: usize) -> usize {
    here!("many::nested");
    plain(number).await + 1
}

fn boxed_leaf(number: usize) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    Box::pin(async move {
        here!("many::boxed_leaf::{async_block#0}");
        sleep(FOREVER).await;
        number
    })
}

async fn boxed(number: usize) -> usize {
    here!("many::boxed");
    boxed_leaf(number).await
}

async fn generic<T: Clone>(value: T) -> T {
    let kept = value.clone();
    here!("many::generic");
    sleep(FOREVER).await;
    kept
}

fn start<F>(count: usize, make: impl Fn(usize) -> F, chain: &[&'static str]) -> Task
where
    F: Future + Send + 'static,
    F::Output: std::fmt::Debug + Send,
{
    let ids = (0..count).map(|number| truth::id(&tokio::spawn(make(number)))).collect();
    Task::all_idle(ids, chain).sleeps()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let total = env::args().nth(1).map_or(10_000, |arg| arg.parse().expect("not a number"));
    let quarter = total / 4;
    let tasks = vec![
        start(total - 3 * quarter, plain, &["many::plain"]),
        start(quarter, nested, &["many::nested", "many::plain"]),
        start(quarter, boxed, &["many::boxed", "many::boxed_leaf::{async_block#0}"]),
        start(quarter, |n| generic(n.to_string()), &["many::generic"]),
    ];
    Truth::new("many")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["many::main::{async_block#0}"])
        .publish();
    here!("many::main::{async_block#0}");
    std::future::pending::<()>().await;
}
