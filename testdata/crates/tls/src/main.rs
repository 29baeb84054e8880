//! Connections of TLS in their phases, and what is above them: HTTP, websockets.

mod http;
mod sessions;
mod websocket;

use std::future::Future;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::{client, server, TlsAcceptor, TlsConnector};
use truth::{here, Task, Truth};

/// The name in the certificate, which clients send.
pub const NAME: &str = "tls.example.test";

/// The tasks started so far.
pub struct Tasks(Vec<Task>);

impl Tasks {
    /// Spawns a future whose coroutines are chain.
    pub fn spawn<F>(&mut self, chain: &[&'static str], future: F, more: impl Fn(Task) -> Task)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(more(Task::idle(id, chain)));
    }
}

/// The two ends of a connection over the loopback device.
pub async fn connect() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    let client = TcpStream::connect(address).await.expect("cannot connect");
    let (server, _) = listener.accept().await.expect("cannot accept");
    (client, server)
}

/// Keeps it open as long as the process lives.
pub fn keep<T>(object: T) {
    std::mem::forget(object);
}

/// Both sides of TLS with a certificate of their own.
pub struct Tls {
    pub acceptor: TlsAcceptor,
    pub connector: TlsConnector,
}

impl Tls {
    pub fn new(version: &'static SupportedProtocolVersion) -> Tls {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("no certificate");
        let signing_key: KeyPair = signing_key;
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("bad certificate");
        let server = ServerConfig::builder_with_protocol_versions(&[version])
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .expect("bad key");
        let client = ClientConfig::builder_with_protocol_versions(&[version])
            .with_root_certificates(roots)
            .with_no_client_auth();
        Tls { acceptor: Arc::new(server).into(), connector: Arc::new(client).into() }
    }

    pub fn name() -> ServerName<'static> {
        NAME.try_into().expect("bad name")
    }

    /// The two ends of a connection whose handshake is over.
    pub async fn pair(&self) -> (client::TlsStream<TcpStream>, server::TlsStream<TcpStream>) {
        let (client, server) = connect().await;
        let (client, server) =
            tokio::join!(self.connector.connect(Tls::name(), client), self.acceptor.accept(server));
        (client.expect("no handshake"), server.expect("no handshake"))
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    sessions::start(&mut tasks).await;
    http::start(&mut tasks).await;
    websocket::start(&mut tasks).await;
    Truth::new("tls")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .block_on(&["tls::main::{async_block#0}"])
        .publish();
    here!("tls::main::{async_block#0}");
    std::future::pending::<()>().await;
}
