//! TLS by tokio-rustls 0.26.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::{client, server, TlsAcceptor, TlsConnector};

use crate::{connect, NAME};

type Name = ServerName<'static>;

include!("tls_in.rs");

fn configure(
    version: &'static SupportedProtocolVersion,
    certificate: Vec<u8>,
    key: Vec<u8>,
) -> (ServerConfig, ClientConfig) {
    let certificate = CertificateDer::from(certificate);
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).expect("bad certificate");
    let server = ServerConfig::builder_with_protocol_versions(&[version])
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(key).into())
        .expect("bad key");
    let client = ClientConfig::builder_with_protocol_versions(&[version])
        .with_root_certificates(roots)
        .with_no_client_auth();
    (server, client)
}
