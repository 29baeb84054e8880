//! Bodies behind trait objects, made of what an async function waits for: of a server's response, as
//! events that a server sends, and of a client's request.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream::once;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use truth::{here, leak, Task, Wait};

use crate::{connect, keep, Tasks};

type Lock = &'static Mutex<u32>;
type Body = UnsyncBoxBody<Bytes, Infallible>;

async fn frame(lock: Lock) -> Result<Frame<Bytes>, Infallible> {
    here!("web::bodies::frame");
    let number = *lock.lock().await;
    Ok(Frame::data(Bytes::from(number.to_string())))
}

fn body(lock: Lock) -> Body {
    StreamBody::new(once(frame(lock))).boxed_unsync()
}

async fn serve(stream: TcpStream, lock: Lock) {
    let service = service_fn(|request: Request<Incoming>| async move {
        drop(request);
        Ok::<_, Infallible>(Response::new(body(lock)))
    });
    here!("web::bodies::serve");
    let _ = server::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn send(connection: client::Connection<TokioIo<TcpStream>, Body>) {
    here!("web::bodies::send");
    let _ = connection.await;
}

/// A lock that nobody gives up.
fn locked() -> (Lock, Wait) {
    let lock = leak(Mutex::new(0));
    keep(lock.try_lock().expect("it is locked"));
    (lock, Wait::new("mutex").with("object", lock as *const Mutex<u32>))
}

pub async fn start(tasks: &mut Tasks) {
    let (mut other, stream) = connect().await;
    let (lock, wait) = locked();
    other.write_all(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("cannot write");
    let chain = ["web::bodies::serve", "web::bodies::frame"];
    tasks.spawn(&chain, serve(stream, lock), |task: Task| task.waits(wait.clone()));
    keep(other);

    let (stream, other) = connect().await;
    let (lock, wait) = locked();
    let (mut sender, connection) =
        client::handshake(TokioIo::new(stream)).await.expect("no handshake");
    let request = Request::post("/events").body(body(lock)).expect("no request");
    keep(Box::pin(sender.send_request(request)));
    let chain = ["web::bodies::send", "web::bodies::frame"];
    tasks.spawn(&chain, send(connection), |task: Task| task.waits(wait.clone()));
    keep((sender, other));
}
