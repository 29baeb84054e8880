//! Bodies behind trait objects, made of what an async function waits for: of a server's response, as
//! events that a server sends, and of a client's request, with HTTP/1 and with HTTP/2.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{once, unfold};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::{http1 as client, http2 as client_2};
use hyper::server::conn::{http1 as server, http2 as server_2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use truth::{here, leak, Task, Wait};

use crate::client::Spawner;
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
    start_2(tasks).await;
}

/// The next part of a body that is sent slowly: one is sent at once.
async fn paced(sent: u32) -> Option<(Result<Frame<Bytes>, Infallible>, u32)> {
    if sent > 0 {
        here!("web::bodies::paced");
        tokio::time::sleep(Duration::from_secs(365 * 86400)).await;
    }
    Some((Ok(Frame::data(Bytes::from_static(b"0123"))), sent + 1))
}

async fn serve_2(stream: TcpStream, lock: Lock, spawner: Spawner) {
    let service = service_fn(|request: Request<Incoming>| async move {
        keep(request);
        Ok::<_, Infallible>(Response::new(body(lock)))
    });
    here!("web::bodies::serve_2");
    let _ = server_2::Builder::new(spawner).serve_connection(TokioIo::new(stream), service).await;
}

async fn drive_2(connection: client_2::Connection<TokioIo<TcpStream>, Body, Spawner>) {
    here!("web::bodies::drive_2");
    let _ = connection.await;
}

/// Keeps the answer, of which the body never comes.
async fn ask_2(mut sender: client_2::SendRequest<Body>, spawner: Spawner) {
    let body = StreamBody::new(unfold(0, paced)).boxed_unsync();
    let request = Request::post("http://a/events").body(body).expect("no request");
    let answer = sender.send_request(request).await.expect("no answer");
    drop(spawner);
    here!("web::bodies::ask_2");
    let _ = answer.into_body().collect().await;
}

/// Both ends of a connection of HTTP/2, on which both send slowly.
async fn start_2(tasks: &mut Tasks) {
    let (client, server) = connect().await;
    let (lock, wait) = locked();
    let (serving, asking) = (Spawner::default(), Spawner::default());
    tasks.spawn(&["web::bodies::serve_2"], serve_2(server, lock, serving.clone()), |task| task);
    let (sender, connection) =
        client_2::handshake(asking.clone(), TokioIo::new(client)).await.expect("no handshake");
    tasks.spawn(&["web::bodies::drive_2"], drive_2(connection), |task| task);
    let data = Wait::new("http_stream").with("wants", "data");
    tasks.spawn(&["web::bodies::ask_2"], ask_2(sender, asking.clone()), |task| {
        task.waits(data.clone())
    });
    let chain = ["web::bodies::frame"];
    let answers = serving.ids(1).await;
    tasks.add(Task::idle(answers[0], &chain).waits(wait).beside(send_2()));
    // The connection, the body of the request, and the answer to it, which has come.
    let ids = asking.ids(3).await;
    tasks.add(Task::idle(ids[0], &[]).property("http_role", "client"));
    tasks.add(Task::idle(ids[1], &["web::bodies::paced"]).sleeps().beside(send_2()));
}

/// The other wait of a body, beside that for its next part: the peer may reset the stream.
fn send_2() -> Wait {
    Wait::new("http_stream").with("wants", "send")
}
