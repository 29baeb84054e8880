//! An echo over QUIC.

use std::net::SocketAddr;
use std::sync::Arc;

use quinn::{ClientConfig, Connection, Endpoint, Incoming, RecvStream, SendStream, ServerConfig};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::RootCertStore;

const ANY: &str = "127.0.0.1:0";

pub struct Server {
    address: SocketAddr,
    client: Endpoint,
}

async fn answer(mut send: SendStream, mut receive: RecvStream) {
    let text = receive.read_to_end(64).await.expect("cannot read");
    send.write_all(&text).await.expect("cannot write");
    send.finish().expect("cannot finish");
}

async fn serve_connection(incoming: Incoming) {
    let connection = incoming.await.expect("no connection");
    while let Ok((send, receive)) = connection.accept_bi().await {
        tokio::spawn(answer(send, receive));
    }
}

async fn accept(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(serve_connection(incoming));
    }
}

fn client_of(certificate: CertificateDer<'static>) -> Endpoint {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a bad certificate");
    let config = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a bad client");
    let mut client = Endpoint::client(ANY.parse().expect("no address")).expect("no endpoint");
    client.set_default_client_config(config);
    client
}

pub fn serve() -> Server {
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).expect("no key");
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())
        .expect("a bad server");
    let server = Endpoint::server(config, ANY.parse().expect("no address")).expect("no endpoint");
    let address = server.local_addr().expect("no address");
    tokio::spawn(accept(server));
    Server { address, client: client_of(certificate) }
}

pub async fn connect(server: &Server) -> Connection {
    let connecting = server.client.connect(server.address, "localhost").expect("cannot connect");
    connecting.await.expect("no connection")
}

pub async fn echo(connection: &Connection, number: usize) {
    let (mut send, mut receive) = connection.open_bi().await.expect("no stream");
    let text = number.to_string();
    send.write_all(text.as_bytes()).await.expect("cannot write");
    send.finish().expect("cannot finish");
    let echoed = receive.read_to_end(64).await.expect("cannot read");
    assert_eq!(echoed, text.as_bytes());
}
