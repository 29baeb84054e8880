//! An axum server with handlers that sleep, and keep-alive clients in the same process.
//!
//! The truth has its port, for clients of other processes.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Path;
use axum::routing::get;
use axum::Router;
use load::{Client, CLIENTS};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::time::sleep;

async fn look_up(number: usize) -> String {
    sleep(Duration::from_millis(3)).await;
    format!("item {}", number)
}

async fn item(Path(number): Path<usize>) -> String {
    look_up(number).await
}

/// As `item`, in a task of its own.
async fn spawned(Path(number): Path<usize>) -> String {
    let task = tokio::spawn(look_up(number));
    task.await.expect("it has ended badly")
}

async fn health() -> &'static str {
    sleep(Duration::from_millis(1)).await;
    "fine"
}

struct Http {
    connection: TcpStream,
}

impl Http {
    /// Reads one answer; it has a Content-Length and no other body.
    async fn answer(&mut self) -> String {
        let mut text = String::new();
        loop {
            let mut buf = [0; 512];
            let len = self.connection.read(&mut buf).await.expect("cannot read");
            assert!(len > 0, "the server hung up");
            text.push_str(std::str::from_utf8(&buf[..len]).expect("not text"));
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head
                    .lines()
                    .filter_map(|line| line.split_once(": "))
                    .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                    .and_then(|(_, value)| value.parse().ok());
                if length == Some(body.len()) {
                    return body.to_string();
                }
            }
        }
    }

    async fn get(&mut self, path: &str) -> String {
        let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
        self.connection.write_all(request.as_bytes()).await.expect("cannot write");
        self.answer().await
    }
}

impl Client for Http {
    async fn request(&mut self, number: usize) {
        if number % 5 == 0 {
            assert_eq!(self.get("/health").await, "fine");
        } else {
            assert_eq!(self.get(&format!("/item/{}", number)).await, format!("item {}", number));
        }
    }
}

async fn connect() -> (Vec<Http>, SocketAddr) {
    let router = Router::new()
        .route("/item/{number}", get(item))
        .route("/spawned/{number}", get(spawned))
        .route("/health", get(health));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let connection = TcpStream::connect(address).await.expect("cannot connect");
        clients.push(Http { connection });
    }
    (clients, address)
}

fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("cannot start a runtime");
    let (clients, address) = runtime.block_on(connect());
    load::run_with(&runtime, clients, &[("port", address.port().to_string())])
}
