//! A service as they are in production: an HTTP front (axum) before a database pool (sqlx with
//! sqlite), a pool of connections (deadpool), queues (flume, async-channel), a cache (moka), QUIC
//! (quinn), gRPC (tonic) and layers of tower; clients of each in the same process (reqwest, tonic,
//! quinn).
//!
//! Beside the load, tasks keep all connections of two other pools for good, and others wait for
//! them; the truth has the pools.

mod calls;
mod front;
mod pools;
mod queues;
mod quic;

use load::{Client, CLIENTS};
use tokio::runtime::Builder;

struct Caller {
    calls: calls::Calls,
    quic: quinn::Connection,
}

impl Client for Caller {
    async fn request(&mut self, number: usize) {
        match number % 4 {
            0 => self.calls.order(number).await,
            1 => self.calls.report(number).await,
            2 => self.calls.health().await,
            _ => quic::echo(&self.quic, number).await,
        }
    }
}

async fn connect() -> (Vec<Caller>, String) {
    let database = pools::open_database().await;
    let address = front::serve(database).await;
    let grpc = calls::serve_health().await;
    let quic = quic::serve();
    let exhausted = pools::exhaust().await;
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(Caller {
            calls: calls::Calls::new(address, grpc).await,
            quic: quic::connect(&quic).await,
        });
    }
    (clients, exhausted)
}

fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("cannot start a runtime");
    let (clients, exhausted) = runtime.block_on(connect());
    load::run_with(&runtime, clients, &[("pools", exhausted)])
}
