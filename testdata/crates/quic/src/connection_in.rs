// A connection in its situations; included by a module for each version of quinn, which has its
// types, configures both ends and says how a task waits for the peer to stop a stream.

const ANY: &str = "127.0.0.1:0";
const WINDOW: u32 = 4096;

async fn accept(endpoint: Endpoint) {
    here!(name!("accept"));
    endpoint.accept().await;
}

async fn accept_bi(connection: Connection) {
    here!(name!("accept_bi"));
    let _ = connection.accept_bi().await;
}

async fn accept_uni(connection: Connection) {
    here!(name!("accept_uni"));
    let _ = connection.accept_uni().await;
}

async fn open_bi(connection: Connection) {
    here!(name!("open_bi"));
    let _ = connection.open_bi().await;
}

async fn open_uni(connection: Connection) {
    here!(name!("open_uni"));
    let _ = connection.open_uni().await;
}

async fn datagram(connection: Connection) {
    here!(name!("datagram"));
    let _ = connection.read_datagram().await;
}

async fn closed(connection: Connection) {
    here!(name!("closed"));
    connection.closed().await;
}

async fn read(mut stream: RecvStream) {
    let mut buf = [0; 8];
    here!(name!("read"));
    let _ = stream.read(&mut buf).await;
}

async fn read_exact(mut stream: RecvStream) {
    let mut buf = [0; 8];
    here!(name!("read_exact"));
    let _ = stream.read_exact(&mut buf).await;
}

async fn read_chunk(mut stream: RecvStream) {
    here!(name!("read_chunk"));
    let _ = stream.read_chunk(8, true).await;
}

async fn read_chunks(mut stream: RecvStream) {
    let mut bufs = [Bytes::new(), Bytes::new()];
    here!(name!("read_chunks"));
    let _ = stream.read_chunks(&mut bufs).await;
}

async fn read_to_end(mut stream: RecvStream) {
    here!(name!("read_to_end"));
    let _ = stream.read_to_end(64).await;
}

async fn write(mut stream: SendStream, data: Vec<u8>) {
    here!(name!("write"));
    let _ = stream.write_all(&data).await;
}

async fn write_chunk(mut stream: SendStream, data: Bytes) {
    here!(name!("write_chunk"));
    let _ = stream.write_chunk(data).await;
}

fn transport() -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config.max_concurrent_bidi_streams(7u32.into()).max_concurrent_uni_streams(1u32.into());
    config.stream_receive_window(WINDOW.into()).max_idle_timeout(None);
    Arc::new(config)
}

fn number(stream: &SendStream) -> i64 {
    VarInt::from(stream.id()).into_inner() as i64
}

fn endpoints() -> (Endpoint, Endpoint) {
    let (mut server, mut client) = configure();
    server.transport_config(transport());
    client.transport_config(transport());
    let server = Endpoint::server(server, ANY.parse().expect("no address")).expect("no endpoint");
    let mut from = Endpoint::client(ANY.parse().expect("no address")).expect("no endpoint");
    from.set_default_client_config(client);
    (server, from)
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
    tasks.spawn(name!("accept_bi"), accept_bi(server.clone()), |task| {
        of_connection(task, "server", from, "stream of the peer")
    });
    tasks.spawn(name!("accept_uni"), accept_uni(client.clone()), |task| {
        of_connection(task, "client", to, "stream of the peer")
    });
    tasks.spawn(name!("open_bi"), open_bi(client.clone()), |task| {
        of_connection(task, "client", to, "room for a stream")
    });
    tasks.spawn(name!("open_uni"), open_uni(client.clone()), |task| {
        of_connection(task, "client", to, "room for a stream")
    });
    tasks.spawn(name!("datagram"), datagram(server.clone()), |task| {
        of_connection(task, "server", from, "datagram")
    });
    tasks.spawn(name!("closed"), closed(client.clone()), |task| task.waits(Wait::new("notify")));
}

async fn start_streams(tasks: &mut Tasks, client: &Connection, server: &Connection) {
    let to = client.remote_address();
    type Reader = fn(RecvStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    let readers: [(&'static str, Reader); 5] = [
        (name!("read"), |s| Box::pin(read(s))),
        (name!("read_exact"), |s| Box::pin(read_exact(s))),
        (name!("read_chunk"), |s| Box::pin(read_chunk(s))),
        (name!("read_chunks"), |s| Box::pin(read_chunks(s))),
        (name!("read_to_end"), |s| Box::pin(read_to_end(s))),
    ];
    for (function, reader) in readers {
        let (id, send, receive) = open(client, server).await;
        std::mem::forget(send);
        tasks.spawn(function, reader(receive), |task| of_stream(task, to, id, "data"));
    }
    let (id, send, receive) = open(client, server).await;
    std::mem::forget(receive);
    tasks.spawn(name!("write"), write(send, vec![b'x'; 1 << 16]), |task| {
        of_stream(task, to, id, "send")
    });
    let (id, send, receive) = open(client, server).await;
    tasks.spawn(name!("stopped"), stopped(send), |task| of_stopped(task, to, id));
    std::mem::forget(receive);
    let mut send = client.open_uni().await.expect("no stream");
    send.write_all(b"x").await.expect("cannot write");
    std::mem::forget(server.accept_uni().await.expect("no stream"));
    let id = number(&send);
    tasks.spawn(name!("write_chunk"), write_chunk(send, vec![b'x'; 1 << 16].into()), |task| {
        of_stream(task, to, id, "send")
    });
}

async fn connection(incoming: Incoming) -> Connection {
    incoming.await.expect("no connection")
}

pub async fn start(tasks: &mut Tasks) {
    let (server, client) = endpoints();
    let address = server.local_addr().expect("no address");
    let connecting = client.connect(address, "localhost").expect("cannot connect");
    let incoming = server.accept().await.expect("nobody connects");
    let (ours, theirs) = tokio::join!(connecting, connection(incoming));
    let ours = ours.expect("no connection");
    // Two endpoints, two connections.
    tasks.0.push(Task::all_idle(vec![None; 4], &[]));
    start_streams(tasks, &ours, &theirs).await;
    start_waiting(tasks, &ours, &theirs);
    tasks.spawn(name!("accept"), accept(server), |task| task.waits(Wait::new("notify")));
}
