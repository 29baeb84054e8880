//! Boxes, references and wrappers, both around the roots of tasks and around what is awaited.

mod wrappers;

use std::future::Future;
use std::pin::Pin;

use futures_util::future::{self, Either, FutureExt, OptionFuture};
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

use wrappers::{Choice, Maybe, Wrapper};

type Dyn = Pin<Box<dyn Future<Output = u32> + Send>>;

async fn leaf() -> u32 {
    here!("boxed::leaf");
    sleep(FOREVER).await;
    1
}

async fn other() -> u32 {
    2
}

async fn await_box() -> u32 {
    let fut = Box::pin(leaf());
    here!("boxed::await_box");
    fut.await
}

async fn await_dyn() -> u32 {
    let fut: Dyn = Box::pin(leaf());
    here!("boxed::await_dyn");
    fut.await
}

async fn await_box_of_dyn() -> u32 {
    let inner: Dyn = Box::pin(leaf());
    let fut = Box::new(inner);
    here!("boxed::await_box_of_dyn");
    fut.await
}

async fn await_mut_box() -> u32 {
    let mut fut = Box::pin(leaf());
    here!("boxed::await_mut_box");
    (&mut fut).await
}

async fn await_pinned() -> u32 {
    let fut = leaf();
    tokio::pin!(fut);
    here!("boxed::await_pinned");
    fut.as_mut().await
}

async fn await_mut_pinned() -> u32 {
    let fut = leaf();
    tokio::pin!(fut);
    here!("boxed::await_mut_pinned");
    (&mut fut).await
}

async fn await_wrapper() -> u32 {
    here!("boxed::await_wrapper");
    Wrapper::new(leaf()).await
}

async fn await_maybe() -> Option<u32> {
    here!("boxed::await_maybe");
    Maybe::new(Some(leaf())).await
}

async fn await_choice(left: bool) -> u32 {
    let fut = if left { Choice::Left(leaf()) } else { Choice::Right(other()) };
    here!("boxed::await_choice");
    fut.await
}

async fn await_option() -> Option<u32> {
    here!("boxed::await_option");
    OptionFuture::from(Some(leaf())).await
}

async fn await_either(left: bool) -> u32 {
    let fut = if left { Either::Left(other()) } else { Either::Right(leaf()) };
    here!("boxed::await_either");
    fut.await
}

async fn await_map() -> u32 {
    here!("boxed::await_map");
    leaf().map(|n| n + 1).await
}

async fn await_fuse() -> u32 {
    here!("boxed::await_fuse");
    leaf().fuse().await
}

async fn await_stack() -> u32 {
    let fut: Dyn = Box::pin(Wrapper::new(future::ready(1).then(|_| await_box())));
    here!("boxed::await_stack");
    fut.map(|n| n + 1).await
}

/// Spawns a task that passes these await points and then sleeps in `leaf`.
fn start<F>(future: F, path: &[&'static str]) -> Task
where
    F: Future + Send + 'static,
    F::Output: std::fmt::Debug + Send,
{
    let mut chain = path.to_vec();
    chain.push("boxed::leaf");
    Task::idle(truth::id(&tokio::spawn(future)), &chain).sleeps()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let dyn_root: Dyn = Box::pin(leaf());
    let nested_root: Dyn = Box::pin(Box::pin(leaf()) as Dyn);
    let tasks = vec![
        start(leaf(), &[]),
        start(Box::pin(leaf()), &[]),
        start(dyn_root, &[]),
        start(nested_root, &[]),
        start(Wrapper::new(leaf()), &[]),
        start(leaf().map(|n| n + 1), &[]),
        start(await_box(), &["boxed::await_box"]),
        start(await_dyn(), &["boxed::await_dyn"]),
        start(await_box_of_dyn(), &["boxed::await_box_of_dyn"]),
        start(await_mut_box(), &["boxed::await_mut_box"]),
        start(await_pinned(), &["boxed::await_pinned"]),
        start(await_mut_pinned(), &["boxed::await_mut_pinned"]),
        start(await_wrapper(), &["boxed::await_wrapper"]),
        start(await_maybe(), &["boxed::await_maybe"]),
        start(await_choice(true), &["boxed::await_choice"]),
        start(await_option(), &["boxed::await_option"]),
        start(await_either(false), &["boxed::await_either"]),
        start(await_map(), &["boxed::await_map"]),
        start(await_fuse(), &["boxed::await_fuse"]),
        start(await_stack(), &["boxed::await_stack", "boxed::await_box"]),
    ];
    Truth::new("boxed")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["boxed::main::{async_block#0}"])
        .publish();
    here!("boxed::main::{async_block#0}");
    std::future::pending::<()>().await;
}
