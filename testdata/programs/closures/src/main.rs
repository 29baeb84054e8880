//! Async closures, async blocks in closures, async fns in traits, and one that never ends.

use std::fmt::Debug;
use std::future::Future;

use tokio::sync::Notify;
use tokio::time::sleep;
use truth::{here, Task, Truth, FOREVER};

async fn async_closure(number: u32) -> u32 {
    let add = async |more: u32| {
        here!("closures::async_closure::{closure#0}");
        sleep(FOREVER).await;
        number + more
    };
    here!("closures::async_closure");
    add(1).await
}

async fn call<F: AsyncFn(u32) -> u32>(callee: F) -> u32 {
    here!("closures::call");
    callee(3).await
}

async fn passed_closure() -> u32 {
    let callee = async |number: u32| {
        here!("closures::passed_closure::{closure#0}");
        sleep(FOREVER).await;
        number
    };
    here!("closures::passed_closure");
    call(callee).await
}

async fn block_in_closure() -> u32 {
    let make = |number: u32| async move {
        here!("closures::block_in_closure::{closure#0}::{async_block#0}");
        sleep(FOREVER).await;
        number
    };
    here!("closures::block_in_closure");
    make(2).await
}

trait Service {
    fn call(&self, request: u32) -> impl Future<Output = u32> + Send;
    async fn name(&self) -> String;
}

struct Echo;

impl Service for Echo {
    async fn call(&self, request: u32) -> u32 {
        here!("<closures::Echo as closures::Service>::call");
        sleep(FOREVER).await;
        request
    }

    async fn name(&self) -> String {
        "echo".to_string()
    }
}

/// A method of the type's own, with the name of the trait's.
impl Echo {
    async fn call(&self) -> u32 {
        here!("closures::Echo::call");
        sleep(FOREVER).await;
        5
    }
}

/// A type of another crate, which has none of this name.
impl Service for Notify {
    async fn call(&self, request: u32) -> u32 {
        here!("<tokio::sync::notify::Notify as closures::Service>::call");
        sleep(FOREVER).await;
        request
    }

    async fn name(&self) -> String {
        "notify".to_string()
    }
}

async fn call_own() -> u32 {
    here!("closures::call_own");
    Echo.call().await
}

async fn serve<S: Service>(service: S) -> u32 {
    here!("closures::serve");
    service.call(4).await
}

struct Server;

impl Server {
    async fn run(&self) -> ! {
        loop {
            here!("closures::Server::run");
            sleep(FOREVER).await;
        }
    }
}

async fn never_ends() {
    here!("closures::never_ends");
    Server.run().await;
}

fn start<F>(future: F, chain: &[&'static str]) -> Task
where
    F: Future + Send + 'static,
    F::Output: Debug + Send,
{
    Task::idle(truth::id(&tokio::spawn(future)), chain).sleeps()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let name = Echo.name().await;
    let tasks = [
        start(
            async_closure(1),
            &["closures::async_closure", "closures::async_closure::{closure#0}"],
        ),
        start(
            passed_closure(),
            &[
                "closures::passed_closure",
                "closures::call",
                "closures::passed_closure::{closure#0}",
            ],
        ),
        start(
            block_in_closure(),
            &[
                "closures::block_in_closure",
                "closures::block_in_closure::{closure#0}::{async_block#0}",
            ],
        ),
        start(serve(Echo), &["closures::serve", "<closures::Echo as closures::Service>::call"]),
        start(call_own(), &["closures::call_own", "closures::Echo::call"]),
        start(
            serve(Notify::new()),
            &["closures::serve", "<tokio::sync::notify::Notify as closures::Service>::call"],
        ),
        start(never_ends(), &["closures::never_ends", "closures::Server::run"]),
    ];
    Truth::new("closures")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks)
        .block_on(&["closures::main::{async_block#0}"])
        .publish();
    here!("closures::main::{async_block#0}");
    std::future::pending::<()>().await;
    drop(name);
}
