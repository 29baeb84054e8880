//! Streams of websockets: one that reads, one whose peer does not, one in its handshake.

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{accept_async, client_async, tungstenite::Message, WebSocketStream};
use truth::{here, Wait};

use crate::{connect, keep, Tasks};

async fn read(mut stream: WebSocketStream<TcpStream>) {
    here!("web::websocket::read");
    let _ = stream.next().await;
}

/// More than the buffers of two sockets can hold.
async fn write(mut stream: WebSocketStream<TcpStream>) {
    here!("web::websocket::write");
    let _ = stream.send(Message::Binary(vec![0; 16 << 20])).await;
}

async fn accept(stream: TcpStream) {
    here!("web::websocket::accept");
    let _ = accept_async(stream).await;
}

async fn pair() -> (WebSocketStream<TcpStream>, WebSocketStream<TcpStream>) {
    let (client, server) = connect().await;
    let (client, server) = tokio::join!(client_async("ws://a/", client), accept_async(server));
    (client.expect("no handshake").0, server.expect("no handshake"))
}

pub async fn start(tasks: &mut Tasks) {
    let websocket = |role: &str| {
        Wait::new("websocket").with("websocket_role", role).with("websocket_state", "active")
    };
    let (client, server) = pair().await;
    tasks.spawn(&["web::websocket::read"], read(server), |task| {
        task.waits(websocket("server").with("buffered", 0))
    });
    keep(client);
    let (client, server) = pair().await;
    tasks.spawn(&["web::websocket::write"], write(client), |task| task.waits(websocket("client")));
    keep(server);
    let (client, server) = connect().await;
    tasks.spawn(&["web::websocket::accept"], accept(server), |task| {
        task.waits(Wait::new("websocket"))
    });
    keep(client);
}
