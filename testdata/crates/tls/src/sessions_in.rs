// Handshakes that the peer does not answer, and streams that are read and written; included by a
// module for each version of tokio-rustls, which has its types and opens both sides.

async fn accept(acceptor: TlsAcceptor, stream: TcpStream) {
    here!(name!("accept"));
    let _ = acceptor.accept(stream).await;
}

async fn connects(connector: TlsConnector, stream: TcpStream) {
    here!(name!("connects"));
    let _ = connector.connect(server_name(), stream).await;
}

async fn read_server(mut stream: server::TlsStream<TcpStream>) {
    let mut buf = [0; 4];
    here!(name!("read_server"));
    let _ = stream.read_exact(&mut buf).await;
}

async fn read_client(mut stream: client::TlsStream<TcpStream>) {
    let mut buf = [0; 4];
    here!(name!("read_client"));
    let _ = stream.read(&mut buf).await;
}

/// More than the buffers of two sockets can hold.
async fn write(mut stream: client::TlsStream<TcpStream>) {
    let much = vec![0; 16 << 20];
    here!(name!("write"));
    let _ = stream.write_all(&much).await;
}

/// It takes a part and waits to write the rest to its socket: the waker of that stays there.
async fn read_after_write(mut stream: server::TlsStream<TcpStream>) {
    let much = vec![0; 1 << 20];
    while poll_immediate(stream.write(&much)).await.is_some() {}
    let mut buf = [0; 4];
    here!(name!("read_after_write"));
    let _ = stream.read_exact(&mut buf).await;
}

/// The read was given up.
async fn write_after_read(mut stream: client::TlsStream<TcpStream>) {
    let mut buf = [0; 4];
    assert!(poll_immediate(stream.read(&mut buf)).await.is_none());
    let much = vec![0; 16 << 20];
    here!(name!("write_after_read"));
    let _ = stream.write_all(&much).await;
}

/// Of either side, in a box whose type is gone.
async fn read_any(stream: TlsStream<TcpStream>) {
    let mut stream: Box<dyn tokio::io::AsyncRead + Unpin + Send> = Box::new(stream);
    here!(name!("read_any"));
    let _ = stream.read_u8().await;
}

async fn copy(mut from: server::TlsStream<TcpStream>, mut to: TcpStream) {
    here!(name!("copy"));
    let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
}

fn tls(role: &str, phase: &str) -> Wait {
    Wait::new("io").with("resource", "TcpStream").with("tls_role", role).with("tls_phase", phase)
}

fn established(role: &str, version: &str) -> Wait {
    tls(role, "established").with("tls_version", version).with("tls_server_name", NAME)
}

pub async fn start(tasks: &mut Tasks) {
    let (tls12, tls13) = (Tls::new(&TLS12), Tls::new(&TLS13));
    let (client, server) = connect().await;
    tasks.spawn(&[name!("accept")], accept(tls13.acceptor.clone(), server), |task| {
        task.waits(tls("server", "handshake").with("direction", "readable"))
    });
    keep(client);
    let (client, server) = connect().await;
    tasks.spawn(&[name!("connects")], connects(tls13.connector.clone(), client), |task| {
        task.waits(
            tls("client", "handshake").with("direction", "readable").with("tls_server_name", NAME),
        )
    });
    keep(server);
    for (sides, version) in [(&tls12, "TLS 1.2"), (&tls13, "TLS 1.3")] {
        let (client, server) = sides.pair().await;
        tasks.spawn(&[name!("read_server")], read_server(server), |task| {
            task.waits(established("server", version).with("direction", "readable"))
        });
        tasks.spawn(&[name!("read_client")], read_client(client), |task| {
            task.waits(tls("client", "established").with("tls_version", version))
        });
    }
    let (client, server) = tls13.pair().await;
    tasks.spawn(&[name!("write")], write(client), |task| {
        task.waits(tls("client", "established").with("direction", "writable"))
    });
    keep(server);
    let (client, server) = tls13.pair().await;
    tasks.spawn(&[name!("read_after_write")], read_after_write(server), |task| {
        task.waits(established("server", "TLS 1.3").with("direction", "readable"))
    });
    keep(client);
    let (client, server) = tls13.pair().await;
    tasks.spawn(&[name!("write_after_read")], write_after_read(client), |task| {
        task.waits(tls("client", "established").with("direction", "writable"))
    });
    keep(server);
    let (client, server) = tls13.pair().await;
    tasks.spawn(&[name!("read_any")], read_any(server.into()), |task| {
        task.waits(established("server", "TLS 1.3").with("direction", "readable"))
    });
    keep(client);
    let (client, server) = tls13.pair().await;
    let (peer, plain) = connect().await;
    tasks.spawn(&[name!("copy")], copy(server, plain), |task| {
        task.waits(established("server", "TLS 1.3"))
    });
    keep((client, peer));
}
