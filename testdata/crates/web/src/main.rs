//! Connections of hyper and h2 in each phase: who sends what to whom, and who waits for it.

mod bodies;
mod client;
mod hyper_014;
mod server;
mod streams;
mod streams_03;
mod websocket;

use std::future::Future;

use tokio::net::{TcpListener, TcpStream};
use truth::{here, Task, Truth};

/// The tasks started so far.
pub struct Tasks(Vec<Task>);

impl Tasks {
    /// Spawns a future whose coroutines are chain.
    pub fn spawn<F>(&mut self, chain: &[&'static str], future: F, more: impl Fn(Task) -> Task)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(more(Task::idle(id, chain)));
    }

    /// Adds a task that was spawned elsewhere.
    pub fn add(&mut self, task: Task) {
        self.0.push(task);
    }
}

/// The two ends of a connection over the loopback device.
pub async fn connect() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    let client = TcpStream::connect(address).await.expect("cannot connect");
    let (server, _) = listener.accept().await.expect("cannot accept");
    (client, server)
}

/// Keeps it open as long as the process lives.
pub fn keep<T>(object: T) {
    std::mem::forget(object);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    server::start(&mut tasks).await;
    client::start(&mut tasks).await;
    streams::start(&mut tasks).await;
    streams_03::start(&mut tasks).await;
    websocket::start(&mut tasks).await;
    bodies::start(&mut tasks).await;
    hyper_014::start(&mut tasks).await;
    Truth::new("web")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .block_on(&["web::main::{async_block#0}"])
        .publish();
    here!("web::main::{async_block#0}");
    std::future::pending::<()>().await;
}
