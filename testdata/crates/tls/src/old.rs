//! TLS by tokio-rustls 0.24.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls_old::rustls::{
    Certificate, ClientConfig, PrivateKey, RootCertStore, ServerConfig, ServerName,
    SupportedProtocolVersion,
};
use tokio_rustls_old::{client, server, TlsAcceptor, TlsConnector};

use crate::{connect, NAME};

type Name = ServerName;

include!("tls_in.rs");

fn configure(
    version: &'static SupportedProtocolVersion,
    certificate: Vec<u8>,
    key: Vec<u8>,
) -> (ServerConfig, ClientConfig) {
    let certificate = Certificate(certificate);
    let mut roots = RootCertStore::empty();
    roots.add(&certificate).expect("bad certificate");
    let server = ServerConfig::builder()
        .with_safe_default_cipher_suites()
        .with_safe_default_kx_groups()
        .with_protocol_versions(&[version])
        .expect("bad version")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKey(key))
        .expect("bad key");
    let client = ClientConfig::builder()
        .with_safe_default_cipher_suites()
        .with_safe_default_kx_groups()
        .with_protocol_versions(&[version])
        .expect("bad version")
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, client)
}
