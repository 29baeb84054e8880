//! Servers of hyper: one connection in each phase. Their clients are bare sockets.

use std::convert::Infallible;
use std::future::pending;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use truth::{here, Task};

use crate::{connect, keep, Tasks};

type Answer = Result<Response<Full<Bytes>>, Infallible>;

/// More than the buffers of two sockets can hold.
const MUCH: usize = 16 << 20;

fn answer(text: impl Into<Bytes>) -> Answer {
    Ok(Response::new(Full::new(text.into())))
}

/// Keeps the request while it waits.
async fn order(request: Request<Incoming>) -> Answer {
    here!("web::server::order");
    pending::<()>().await;
    answer(format!("{}", request.uri()))
}

/// Keeps a part of the request while it reads the body.
async fn upload(request: Request<Incoming>) -> Answer {
    let (parts, body) = request.into_parts();
    here!("web::server::upload");
    let body = body.collect().await.expect("no body");
    answer(format!("{} {}", parts.uri, body.to_bytes().len()))
}

/// Has dropped the request while it waits.
async fn forget(request: Request<Incoming>) -> Answer {
    drop(request);
    here!("web::server::forget");
    pending::<()>().await;
    answer("")
}

async fn serve(request: Request<Incoming>) -> Answer {
    match request.uri().path() {
        "/orders/7" => {
            here!("web::server::serve order");
            order(request).await
        }
        "/upload" => {
            here!("web::server::serve upload");
            upload(request).await
        }
        "/forgotten" => {
            here!("web::server::serve forget");
            forget(request).await
        }
        "/large" => answer(vec![b'x'; MUCH]),
        _ => answer("fine"),
    }
}

async fn connection(stream: TcpStream) {
    let service = service_fn(serve);
    here!("web::server::connection");
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// A connection on which the client has sent this; the properties of it are those.
async fn start_one(
    tasks: &mut Tasks,
    sent: &str,
    answered: bool,
    chain: &[&'static str],
    properties: impl Fn(Task) -> Task,
) {
    let (mut client, server) = connect().await;
    client.write_all(sent.as_bytes()).await.expect("cannot write");
    tasks.spawn(chain, connection(server), |task| properties(task.property("http_role", "server")));
    if answered {
        let mut buf = [0; 16];
        client.read_exact(&mut buf).await.expect("no answer");
        assert_eq!(&buf, b"HTTP/1.1 200 OK\r");
    }
    keep(client);
}

const CONNECTION: &str = "web::server::connection";

pub async fn start(tasks: &mut Tasks) {
    start_one(tasks, "", false, &[CONNECTION], |task| {
        task.property("http_phase", "new").property("http_version", "HTTP/1")
    })
    .await;
    start_one(tasks, "GET /first HTTP/1.1\r\nHost: a\r\n\r\n", true, &[CONNECTION], |task| {
        task.property("http_phase", "idle").no_property("http_method").no_property("http_path")
    })
    .await;
    start_one(tasks, "GET /half HTTP/1.1\r\nHo", false, &[CONNECTION], |task| {
        task.property("http_phase", "reading head").no_property("http_method")
    })
    .await;
    // The method of the first request must not be shown as that of the second one.
    let two = "POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET /half HT";
    start_one(tasks, two, true, &[CONNECTION], |task| {
        task.property("http_phase", "reading head").no_property("http_method")
    })
    .await;
    let chain = [CONNECTION, "web::server::serve order", "web::server::order"];
    let order = "DELETE /orders/7?hard=1 HTTP/1.1\r\nHost: a\r\n\r\n";
    start_one(tasks, order, false, &chain, |task| {
        task.property("http_phase", "waiting for the service")
            .property("http_method", "DELETE")
            .property("http_path", "/orders/7")
    })
    .await;
    let chain = [CONNECTION, "web::server::serve upload", "web::server::upload"];
    let upload = "PUT /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n0123456789";
    start_one(tasks, upload, false, &chain, |task| {
        task.property("http_phase", "reading body")
            .property("http_method", "PUT")
            .property("http_path", "/upload")
    })
    .await;
    let chain = [CONNECTION, "web::server::serve forget", "web::server::forget"];
    let forgotten = "GET /forgotten HTTP/1.1\r\nHost: a\r\n\r\n";
    start_one(tasks, forgotten, false, &chain, |task| {
        task.property("http_phase", "waiting for the service")
            .property("http_method", "GET")
            .no_property("http_path")
    })
    .await;
    let large = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
    start_one(tasks, large, true, &[CONNECTION], |task| {
        task.property("http_version", "HTTP/1.1")
            .property("http_phase", "writing")
            .property("http_method", "GET")
            .no_property("http_path")
    })
    .await;
    start_2(tasks).await;
}

async fn connection_2(stream: TcpStream) {
    let service = service_fn(serve);
    let builder = http2::Builder::new(TokioExecutor::new());
    here!("web::server::connection_2");
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn client_2(connection: h2::client::Connection<TcpStream, Bytes>) {
    here!("web::server::client_2");
    let _ = connection.await;
}

/// A connection of HTTP/2 without a request.
async fn start_2(tasks: &mut Tasks) {
    let (client, server) = connect().await;
    let properties = |task: Task, role: &str| {
        task.property("http_role", role)
            .property("http_version", "HTTP/2")
            .property("http_phase", "idle")
            .property("http_streams", 0)
            .property("http_queued", 0)
    };
    tasks.spawn(&["web::server::connection_2"], connection_2(server), |task| {
        properties(task, "server")
    });
    let (client, connection) = h2::client::handshake(client).await.expect("no handshake");
    tasks
        .spawn(&["web::server::client_2"], client_2(connection), |task| properties(task, "client"));
    keep(client);
}
