//! Websockets over TLS, and over a stream in memory.

use futures_util::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpStream;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::server;
use tokio_tungstenite::{accept_async, client_async, WebSocketStream};
use truth::{here, Wait};

use crate::new::Tls;
use crate::{keep, Tasks, NAME};

async fn read(mut stream: WebSocketStream<server::TlsStream<TcpStream>>) {
    here!("tls::websocket::read");
    let _ = stream.next().await;
}

async fn read_memory(mut stream: WebSocketStream<DuplexStream>) {
    here!("tls::websocket::read_memory");
    let _ = stream.next().await;
}

async fn pair<A, B>(client: A, server: B) -> (WebSocketStream<A>, WebSocketStream<B>)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (client, server) = tokio::join!(client_async("ws://a/", client), accept_async(server));
    (client.expect("no handshake").0, server.expect("no handshake"))
}

pub async fn start(tasks: &mut Tasks) {
    let websocket = || Wait::new("websocket").with("websocket_state", "active");
    let (client, server) = Tls::new(&TLS13).pair().await;
    let (client, server) = pair(client, server).await;
    tasks.spawn(&["tls::websocket::read"], read(server), |task| {
        task.waits(
            websocket()
                .with("resource", "TcpStream")
                .with("tls_role", "server")
                .with("tls_phase", "established")
                .with("tls_server_name", NAME),
        )
    });
    keep(client);
    let (client, server) = tokio::io::duplex(1024);
    let (client, server) = pair(client, server).await;
    tasks.spawn(&["tls::websocket::read_memory"], read_memory(server), |task| {
        task.waits(websocket().with("resource", "DuplexStream"))
    });
    keep(client);
}
