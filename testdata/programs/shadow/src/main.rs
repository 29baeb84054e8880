//! Several locals of one name, among them futures that live across an await.

use std::pin::Pin;

use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn leaf(value: u32) -> u32 {
    here!("shadow::leaf");
    sleep(FOREVER).await;
    value
}

/// Three values of one name and of different types, all alive across the await.
async fn values(x: u8) -> usize {
    let first = &x;
    let x = x.to_string();
    let second = &x;
    let x = vec![x.clone(); 3];
    here!("shadow::values");
    leaf(1).await;
    x.len() + second.len() + usize::from(*first)
}

/// The awaited future shadows one that was never polled and outlives the await.
async fn futures(n: u32) -> u32 {
    let fut = Box::pin(leaf(n));
    let unpolled = &fut;
    let mut fut = Box::pin(values(7));
    here!("shadow::futures");
    let length = fut.as_mut().await;
    drop(fut);
    length as u32 + std::mem::size_of_val(unpolled) as u32
}

/// A name is used for a future, its wrapper and a reference, one hiding the other.
async fn layers(n: u32) -> u32 {
    let fut = leaf(n);
    let mut fut = Box::pin(fut);
    let fut: Pin<&mut _> = fut.as_mut();
    here!("shadow::layers");
    fut.await
}

/// The argument is hidden in an inner block while it is still needed outside.
async fn blocks(text: String) -> usize {
    let inner = {
        let text = text.len();
        let text = [text; 4];
        here!("shadow::blocks");
        leaf(text[0] as u32).await;
        text.len()
    };
    inner + text.len()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let values = tokio::spawn(values(5));
    let futures = tokio::spawn(futures(5));
    let layers = tokio::spawn(layers(5));
    let blocks = tokio::spawn(blocks("five".to_string()));
    let inner = ["shadow::values", "shadow::leaf"];
    let outer = ["shadow::futures", "shadow::values", "shadow::leaf"];
    Truth::new("shadow")
        .runtime(truth_tokio::current("multi_thread", 2))
        .task(Task::idle(truth::id(&values), &inner).sleeps())
        .task(Task::idle(truth::id(&futures), &outer).sleeps())
        .task(Task::idle(truth::id(&layers), &["shadow::layers", "shadow::leaf"]).sleeps())
        .task(Task::idle(truth::id(&blocks), &["shadow::blocks", "shadow::leaf"]).sleeps())
        .block_on(&["shadow::main::{async_block#0}"])
        .publish();
    here!("shadow::main::{async_block#0}");
    std::future::pending::<()>().await;
}
