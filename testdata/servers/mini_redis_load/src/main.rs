//! A mini-redis server and its own clients in one process.
//!
//! The truth has its port, for clients of other processes.

use std::future;
use std::net::SocketAddr;

use bytes::Bytes;
use load::{Client, CLIENTS};
use mini_redis::{client, server};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

struct Redis {
    name: String,
    connection: client::Client,
}

impl Client for Redis {
    async fn request(&mut self, number: usize) {
        let key = format!("{}-{}", self.name, number % 8);
        let value = Bytes::from(number.to_string());
        self.connection.set(&key, value.clone()).await.expect("cannot set");
        let read = self.connection.get(&key).await.expect("cannot get");
        assert_eq!(read, Some(value));
    }
}

async fn connect() -> (Vec<Redis>, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    tokio::spawn(server::run(listener, future::pending::<()>()));
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let connection = client::connect(address).await.expect("cannot connect");
        clients.push(Redis { name: format!("client-{}", number), connection });
    }
    (clients, address)
}

fn start() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("cannot start a runtime")
}

fn main() {
    let runtime = start();
    let (clients, address) = runtime.block_on(connect());
    load::run_with(&runtime, clients, &[("port", address.port().to_string())])
}
