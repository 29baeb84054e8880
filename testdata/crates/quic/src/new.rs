//! quinn 0.11.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use quinn::{
    ClientConfig, Connection, Endpoint, Incoming, RecvStream, SendStream, ServerConfig,
    TransportConfig, VarInt,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::RootCertStore;
use truth::{here, Task, Wait};

use crate::{certificate, of_connection, of_stream, Tasks};

include!("connection_in.rs");

#[allow(unused_mut)] // early versions of 0.11 need it
async fn stopped(mut stream: SendStream) {
    here!("quic::new::stopped");
    let _ = stream.stopped().await;
}

/// Some versions of 0.11 have a Notify for it, some a map of wakers.
fn of_stopped(task: Task, _: SocketAddr, _: i64) -> Task {
    task
}

fn configure() -> (ServerConfig, ClientConfig) {
    let (certificate, key) = certificate();
    let certificate = CertificateDer::from(certificate);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("a bad certificate");
    let key = PrivatePkcs8KeyDer::from(key).into();
    (
        ServerConfig::with_single_cert(vec![certificate], key).expect("a bad server"),
        ClientConfig::with_root_certificates(Arc::new(roots)).expect("a bad client"),
    )
}
