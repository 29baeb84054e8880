//! Futures so large that tokio itself puts them into boxes, beside small ones.

use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

/// More than tokio's threshold in a release build.
const LARGE: usize = 20 * 1024;

async fn hold_array(fill: u8) -> usize {
    let array = [fill; LARGE];
    here!("large::hold_array");
    sleep(FOREVER).await;
    array.iter().filter(|&&byte| byte == fill).count()
}

async fn hold_in_child(fill: u8) -> usize {
    here!("large::hold_in_child");
    hold_array(fill).await
}

async fn small() {
    here!("large::small");
    sleep(FOREVER).await;
}

async fn root(fill: u8) -> usize {
    let array = [fill; LARGE];
    here!("large::root");
    std::future::pending::<()>().await;
    array.len()
}

fn main() {
    let runtime = truth_tokio::multi_thread(2);
    let array = runtime.spawn(hold_array(1));
    let child = runtime.spawn(hold_in_child(2));
    let small = runtime.spawn(small());
    Truth::new("large")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", 2))
        .task(Task::idle(truth::id(&array), &["large::hold_array"]).sleeps())
        .task(
            Task::idle(truth::id(&child), &["large::hold_in_child", "large::hold_array"]).sleeps(),
        )
        .task(Task::idle(truth::id(&small), &["large::small"]).sleeps())
        .block_on(&["large::root"])
        .publish();
    runtime.block_on(root(3));
}
