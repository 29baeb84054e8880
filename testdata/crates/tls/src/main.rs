//! Connections of TLS in their phases, and what is above them: HTTP, websockets.

/// The name of a coroutine of this module.
macro_rules! name {
    ($of:literal) => {
        concat!(module_path!(), "::", $of)
    };
}

mod http;
mod new;
mod old;
mod sessions;
mod sessions_old;
mod websocket;

use std::future::Future;

use rcgen::{CertifiedKey, KeyPair};
use tokio::net::{TcpListener, TcpStream};
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

/// A certificate for the name, and its key.
pub fn certificate() -> (Vec<u8>, Vec<u8>) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("no certificate");
    let signing_key: KeyPair = signing_key;
    (cert.der().to_vec(), signing_key.serialize_der())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    sessions::start(&mut tasks).await;
    sessions_old::start(&mut tasks).await;
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
