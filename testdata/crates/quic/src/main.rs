//! A connection of quinn: who waits for a stream, for data of one, or for room to send more.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use quinn::{
    ClientConfig, Connection, Endpoint, Incoming, RecvStream, SendStream, ServerConfig,
    TransportConfig,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::RootCertStore;
use truth::{here, Task, Truth, Wait};

const ANY: &str = "127.0.0.1:0";
const WINDOW: u32 = 4096;

/// The tasks started so far.
struct Tasks(Vec<Task>);

impl Tasks {
    fn spawn<F>(&mut self, function: &'static str, future: F, more: impl Fn(Task) -> Task)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(more(Task::idle(id, &[function])));
    }
}

async fn accept(endpoint: Endpoint) {
    here!("quic::accept");
    endpoint.accept().await;
}

async fn accept_bi(connection: Connection) {
    here!("quic::accept_bi");
    let _ = connection.accept_bi().await;
}

async fn accept_uni(connection: Connection) {
    here!("quic::accept_uni");
    let _ = connection.accept_uni().await;
}

async fn open_bi(connection: Connection) {
    here!("quic::open_bi");
    let _ = connection.open_bi().await;
}

async fn open_uni(connection: Connection) {
    here!("quic::open_uni");
    let _ = connection.open_uni().await;
}

async fn datagram(connection: Connection) {
    here!("quic::datagram");
    let _ = connection.read_datagram().await;
}

async fn closed(connection: Connection) {
    here!("quic::closed");
    connection.closed().await;
}

async fn read(mut stream: RecvStream) {
    let mut buf = [0; 8];
    here!("quic::read");
    let _ = stream.read(&mut buf).await;
}

async fn read_exact(mut stream: RecvStream) {
    let mut buf = [0; 8];
    here!("quic::read_exact");
    let _ = stream.read_exact(&mut buf).await;
}

async fn read_chunk(mut stream: RecvStream) {
    here!("quic::read_chunk");
    let _ = stream.read_chunk(8, true).await;
}

async fn read_chunks(mut stream: RecvStream) {
    let mut bufs = [Bytes::new(), Bytes::new()];
    here!("quic::read_chunks");
    let _ = stream.read_chunks(&mut bufs).await;
}

async fn read_to_end(mut stream: RecvStream) {
    here!("quic::read_to_end");
    let _ = stream.read_to_end(64).await;
}

async fn write(mut stream: SendStream, data: Vec<u8>) {
    here!("quic::write");
    let _ = stream.write_all(&data).await;
}

async fn write_chunk(mut stream: SendStream, data: Bytes) {
    here!("quic::write_chunk");
    let _ = stream.write_chunk(data).await;
}

async fn stopped(stream: SendStream) {
    here!("quic::stopped");
    let _ = stream.stopped().await;
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_concurrent_bidi_streams(7u32.into()).max_concurrent_uni_streams(1u32.into());
    config.stream_receive_window(WINDOW.into()).max_idle_timeout(None);
    Arc::new(config)
}

fn server() -> (Endpoint, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).expect("no key");
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())
        .expect("a bad server");
    config.transport_config(transport());
    let address = ANY.parse().expect("no address");
    (Endpoint::server(config, address).expect("no endpoint"), certificate)
}

fn client(certificate: CertificateDer<'static>) -> Endpoint {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a bad certificate");
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).expect("a bad client");
    config.transport_config(transport());
    let mut client = Endpoint::client(ANY.parse().expect("no address")).expect("no endpoint");
    client.set_default_client_config(config);
    client
}

/// Of the tasks that wait for a stream or a datagram of a connection.
fn of_connection(task: Task, role: &'static str, peer: SocketAddr, wants: &'static str) -> Task {
    task.property("quic_role", role)
        .property("quic_peer", peer.to_string())
        .property("wants", wants)
        .waits(Wait::new("notify"))
}

fn of_stream(task: Task, peer: SocketAddr, id: i64, wants: &'static str) -> Task {
    task.waits(
        Wait::new("quic_stream")
            .with("quic_closed", false)
            .with("stream", id)
            .with("quic_role", "client")
            .with("quic_peer", peer.to_string())
            .with("wants", wants),
    )
}

fn number(stream: &SendStream) -> i64 {
    quinn::VarInt::from(stream.id()).into_inner() as i64
}

/// A stream whose other end the server keeps, and of which it sent nothing.
async fn open(client: &Connection, server: &Connection) -> (i64, SendStream, RecvStream) {
    let (mut send, receive) = client.open_bi().await.expect("no stream");
    send.write_all(b"x").await.expect("cannot write");
    std::mem::forget(server.accept_bi().await.expect("no stream"));
    (number(&send), send, receive)
}

fn start_waiting(tasks: &mut Tasks, client: &Connection, server: &Connection) {
    let (to, from) = (client.remote_address(), server.remote_address());
    tasks.spawn("quic::accept_bi", accept_bi(server.clone()), |task| {
        of_connection(task, "server", from, "stream of the peer")
    });
    tasks.spawn("quic::accept_uni", accept_uni(client.clone()), |task| {
        of_connection(task, "client", to, "stream of the peer")
    });
    tasks.spawn("quic::open_bi", open_bi(client.clone()), |task| {
        of_connection(task, "client", to, "room for a stream")
    });
    tasks.spawn("quic::open_uni", open_uni(client.clone()), |task| {
        of_connection(task, "client", to, "room for a stream")
    });
    tasks.spawn("quic::datagram", datagram(server.clone()), |task| {
        of_connection(task, "server", from, "datagram")
    });
    tasks.spawn("quic::closed", closed(client.clone()), |task| task.waits(Wait::new("notify")));
}

async fn start_streams(tasks: &mut Tasks, client: &Connection, server: &Connection) {
    let to = client.remote_address();
    type Reader = fn(RecvStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    let readers: [(&'static str, Reader); 5] = [
        ("quic::read", |s| Box::pin(read(s))),
        ("quic::read_exact", |s| Box::pin(read_exact(s))),
        ("quic::read_chunk", |s| Box::pin(read_chunk(s))),
        ("quic::read_chunks", |s| Box::pin(read_chunks(s))),
        ("quic::read_to_end", |s| Box::pin(read_to_end(s))),
    ];
    for (function, reader) in readers {
        let (id, send, receive) = open(client, server).await;
        std::mem::forget(send);
        tasks.spawn(function, reader(receive), |task| of_stream(task, to, id, "data"));
    }
    let (id, send, receive) = open(client, server).await;
    std::mem::forget(receive);
    tasks.spawn("quic::write", write(send, vec![b'x'; 1 << 16]), |task| {
        of_stream(task, to, id, "send")
    });
    let (id, send, receive) = open(client, server).await;
    tasks.spawn("quic::stopped", stopped(send), |task| task.waits(Wait::new("notify")));
    std::mem::forget((id, receive));
    let mut send = client.open_uni().await.expect("no stream");
    send.write_all(b"x").await.expect("cannot write");
    std::mem::forget(server.accept_uni().await.expect("no stream"));
    let id = number(&send);
    tasks.spawn("quic::write_chunk", write_chunk(send, vec![b'x'; 1 << 16].into()), |task| {
        of_stream(task, to, id, "send")
    });
}

async fn connection(incoming: Incoming) -> Connection {
    incoming.await.expect("no connection")
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    let (server, certificate) = server();
    let client = client(certificate);
    let address = server.local_addr().expect("no address");
    let connecting = client.connect(address, "localhost").expect("cannot connect");
    let incoming = server.accept().await.expect("nobody connects");
    let (ours, theirs) = tokio::join!(connecting, connection(incoming));
    let ours = ours.expect("no connection");
    // Two endpoints, two connections.
    tasks.0.push(Task::all_idle(vec![None; 4], &[]));
    start_streams(&mut tasks, &ours, &theirs).await;
    start_waiting(&mut tasks, &ours, &theirs);
    tasks.spawn("quic::accept", accept(server), |task| task.waits(Wait::new("notify")));
    Truth::new("quic")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .block_on(&["quic::main::{async_block#0}"])
        .publish();
    here!("quic::main::{async_block#0}");
    std::future::pending::<()>().await;
}
