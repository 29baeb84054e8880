//! quinn 0.10.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use quinn_old::{
    ClientConfig, Connecting as Incoming, Connection, Endpoint, RecvStream, SendStream,
    ServerConfig, TransportConfig, VarInt,
};
use rustls_old::{Certificate, PrivateKey, RootCertStore};
use truth::{here, Task, Wait};

use crate::{certificate, of_connection, of_stream, Tasks};

include!("connection_in.rs");

async fn stopped(mut stream: SendStream) {
    here!("quic::old::stopped");
    let _ = stream.stopped().await;
}

fn of_stopped(task: Task, peer: SocketAddr, id: i64) -> Task {
    of_stream(task, peer, id, "stop")
}

fn configure() -> (ServerConfig, ClientConfig) {
    let (certificate, key) = certificate();
    let certificate = Certificate(certificate);
    let mut roots = RootCertStore::empty();
    roots.add(&certificate).expect("a bad certificate");
    (
        ServerConfig::with_single_cert(vec![certificate], PrivateKey(key)).expect("a bad server"),
        ClientConfig::with_root_certificates(roots),
    )
}
