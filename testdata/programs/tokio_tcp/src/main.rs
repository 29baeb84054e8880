//! A TCP echo server whose handlers sleep before they answer, and clients that wait for that.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::thread;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use truth::{here, Task, Truth, Wait, FOREVER};

const CLIENTS: usize = 3;

async fn handle(mut stream: TcpStream) -> std::io::Result<()> {
    let mut buf = [0; 64];
    let len = stream.read(&mut buf).await?;
    here!("tokio_tcp::handle");
    sleep(FOREVER).await;
    stream.write_all(&buf[..len]).await
}

fn talk(server: SocketAddr) -> std::io::Result<()> {
    let mut stream = std::net::TcpStream::connect(server)?;
    stream.write_all(b"hello")?;
    let mut buf = [0; 5];
    stream.read_exact(&mut buf)
}

fn start_clients(server: SocketAddr) {
    for _ in 0..CLIENTS {
        thread::spawn(move || talk(server));
    }
}

fn publish(ids: Vec<Option<u64>>, listens: SocketAddr) {
    let handler = ["tokio_tcp::main::{async_block#0}::{async_block#0}", "tokio_tcp::handle"];
    Truth::new("tokio_tcp")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(ids.into_iter().map(|id| Task::idle(id, &handler).sleeps()))
        .block_on_waits(
            &["tokio_tcp::main::{async_block#0}"],
            Wait::new("io").with("local", listens.to_string()),
        )
        .publish();
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    start_clients(address);
    let mut ids = Vec::new();
    loop {
        here!("tokio_tcp::main::{async_block#0}");
        let (stream, _) = listener.accept().await.expect("cannot accept");
        let handler = tokio::spawn(async move {
            here!("tokio_tcp::main::{async_block#0}::{async_block#0}");
            handle(stream).await
        });
        ids.push(truth::id(&handler));
        if ids.len() == CLIENTS {
            publish(ids.clone(), address);
        }
    }
}
