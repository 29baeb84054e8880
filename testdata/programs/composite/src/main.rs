//! Futures written by hand that poll a future and something else beside it: a socket, a channel's
//! end, what keeps their waker. All of them can go on, but for a few that say so.

mod circles;
mod ends;
mod objects;
mod polled;
mod servers;
mod streams;

use std::future::Future;
use std::pin::Pin;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use truth::{here, Truth, Wait, FOREVER};
use truth_tokio::Tasks;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

async fn nap() {
    here!("composite::nap");
    sleep(FOREVER).await;
}

fn readable() -> Wait {
    Wait::new("io").with("resource", "TcpStream").with("direction", "readable")
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("no port")
}

/// A connection on which nobody will ever say anything.
async fn silent() -> TcpStream {
    let listener = listen().await;
    let address = listener.local_addr().expect("no address");
    let near = TcpStream::connect(address).await.expect("no connection");
    std::mem::forget(listener.accept().await);
    near
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    polled::spawn_all(&mut tasks).await;
    servers::spawn_all(&mut tasks).await;
    circles::spawn_all(&mut tasks).await;
    ends::spawn_all(&mut tasks);
    objects::spawn_all(&mut tasks).await;
    streams::spawn_all(&mut tasks).await;
    Truth::new("composite")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .graph(tasks.graph)
        .block_on(&["composite::main::{async_block#0}"])
        .publish();
    here!("composite::main::{async_block#0}");
    sleep(FOREVER).await;
}
