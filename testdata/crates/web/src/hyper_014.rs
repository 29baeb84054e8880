//! Connections of hyper 0.14, with h2 0.3: a server's in each phase, and a client's.

use std::convert::Infallible;
use std::future::{pending, poll_fn, Future};
use std::task::Poll;

use bytes::Bytes;
use hyper_old::body::to_bytes;
use hyper_old::client::conn::{handshake, Connection, SendRequest};
use hyper_old::server::conn::Http;
use hyper_old::service::service_fn;
use hyper_old::{Body, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use truth::{here, Task, Wait};

use crate::{connect, keep, Tasks};

type Answer = Result<Response<Body>, Infallible>;

/// More than the buffers of two sockets can hold.
const MUCH: usize = 16 << 20;

/// Keeps the request while it waits.
async fn order(request: Request<Body>) -> Answer {
    here!("web::hyper_014::order");
    pending::<()>().await;
    Ok(Response::new(request.uri().to_string().into()))
}

/// Keeps a part of the request while it reads the body.
async fn upload(request: Request<Body>) -> Answer {
    let (parts, body) = request.into_parts();
    here!("web::hyper_014::upload");
    let body = to_bytes(body).await.expect("no body");
    Ok(Response::new(format!("{} {}", parts.uri, body.len()).into()))
}

async fn serve(request: Request<Body>) -> Answer {
    match request.uri().path() {
        "/orders/7" => {
            here!("web::hyper_014::serve order");
            order(request).await
        }
        "/upload" => {
            here!("web::hyper_014::serve upload");
            upload(request).await
        }
        "/large" => Ok(Response::new(vec![b'x'; MUCH].into())),
        _ => Ok(Response::new("fine".into())),
    }
}

async fn connection(stream: TcpStream) {
    let http = Http::new();
    here!("web::hyper_014::connection");
    let _ = http.serve_connection(stream, service_fn(serve)).await;
}

async fn connection_2(stream: TcpStream) {
    let mut http = Http::new();
    http.http2_only(true);
    here!("web::hyper_014::connection_2");
    let _ = http.serve_connection(stream, service_fn(serve)).await;
}

const CONNECTION: &str = "web::hyper_014::connection";

/// A connection on which the client has sent this; the phase and the request of it are those.
async fn serve_one(
    tasks: &mut Tasks,
    sent: &str,
    answered: bool,
    inner: &[&'static str],
    phase: &str,
    request: Option<(&str, Option<&str>)>,
) {
    let (mut client, server) = connect().await;
    client.write_all(sent.as_bytes()).await.expect("cannot write");
    let chain = [&[CONNECTION], inner].concat();
    tasks.spawn(&chain, connection(server), |task| {
        let task = task.property("http_role", "server").property("http_phase", phase);
        let task = match request {
            Some((method, _)) => task.property("http_method", method),
            None => task.no_property("http_method"),
        };
        match request {
            Some((_, Some(path))) => task.property("http_path", path),
            _ => task.no_property("http_path"),
        }
    });
    if answered {
        let mut buf = [0; 16];
        client.read_exact(&mut buf).await.expect("no answer");
        assert_eq!(&buf, b"HTTP/1.1 200 OK\r");
    }
    keep(client);
}

async fn start_servers(tasks: &mut Tasks) {
    serve_one(tasks, "", false, &[], "new", None).await;
    let first = "GET /first HTTP/1.1\r\nHost: a\r\n\r\n";
    serve_one(tasks, first, true, &[], "idle", None).await;
    serve_one(tasks, "GET /half HTTP/1.1\r\nHo", false, &[], "reading head", None).await;
    let order = "DELETE /orders/7?hard=1 HTTP/1.1\r\nHost: a\r\n\r\n";
    let inner = ["web::hyper_014::serve order", "web::hyper_014::order"];
    let request = Some(("DELETE", Some("/orders/7")));
    serve_one(tasks, order, false, &inner, "waiting for the service", request).await;
    let upload = "PUT /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n0123456789";
    let inner = ["web::hyper_014::serve upload", "web::hyper_014::upload"];
    let request = Some(("PUT", Some("/upload")));
    serve_one(tasks, upload, false, &inner, "reading body", request).await;
    let large = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
    serve_one(tasks, large, true, &[], "writing", Some(("GET", None))).await;
}

async fn client_2(connection: h2_03::client::Connection<TcpStream, Bytes>) {
    here!("web::hyper_014::client_2");
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
    };
    let name = "web::hyper_014::connection_2";
    tasks.spawn(&[name], connection_2(server), |task| properties(task, "server"));
    let (client, connection) = h2_03::client::handshake(client).await.expect("no handshake");
    let name = "web::hyper_014::client_2";
    tasks.spawn(&[name], client_2(connection), |task| properties(task, "client"));
    keep(client);
}

async fn drive(connection: Connection<TcpStream, Body>) {
    here!("web::hyper_014::drive");
    let _ = connection.await;
}

fn request(method: &str) -> Request<Body> {
    Request::builder().method(method).uri("/asked").body(Body::empty()).expect("no request")
}

async fn ask(mut sender: SendRequest<Body>) {
    here!("web::hyper_014::ask");
    let _ = sender.send_request(request("POST")).await;
}

/// Reads the body of an answer whose end does not come.
async fn read(mut sender: SendRequest<Body>) {
    let answer = sender.send_request(request("GET")).await.expect("no answer");
    here!("web::hyper_014::read");
    let _ = to_bytes(answer.into_body()).await;
}

/// The connection has a request in progress already.
async fn ready(mut sender: SendRequest<Body>) {
    let mut first = Box::pin(sender.send_request(request("GET")));
    let once = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_pending()));
    assert!(once.await);
    here!("web::hyper_014::ready");
    let _ = poll_fn(|cx| sender.poll_ready(cx)).await;
}

async fn client(
    tasks: &mut Tasks,
    phase: &str,
    method: Option<&str>,
) -> (SendRequest<Body>, TcpStream) {
    let (client, server) = connect().await;
    let (sender, connection) = handshake(client).await.expect("no handshake");
    tasks.spawn(&["web::hyper_014::drive"], drive(connection), |task| {
        let task = task.property("http_role", "client").property("http_phase", phase);
        match method {
            Some(method) => task.property("http_method", method),
            None => task.no_property("http_method"),
        }
    });
    (sender, server)
}

async fn start_clients(tasks: &mut Tasks) {
    let unused = client(tasks, "new", None).await;
    keep(unused);
    let (sender, server) = client(tasks, "waiting for the answer", Some("POST")).await;
    tasks.spawn(&["web::hyper_014::ask"], ask(sender), |task| task.waits(Wait::new("oneshot")));
    keep(server);
    let (sender, mut server) = client(tasks, "reading body", Some("GET")).await;
    tasks.spawn(&["web::hyper_014::read"], read(sender), |task| {
        task.waits(Wait::new("http_body").with("value_there", false).with("sender_alive", true))
    });
    let mut buf = [0; 4];
    server.read_exact(&mut buf).await.expect("no request");
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789";
    server.write_all(head).await.expect("cannot answer");
    keep(server);
    let (sender, server) = client(tasks, "waiting for the answer", Some("GET")).await;
    tasks.spawn(&["web::hyper_014::ready"], ready(sender), |task| {
        task.waits(Wait::new("want").with("is_wanted", false).with("taker_alive", true))
    });
    keep(server);
}

pub async fn start(tasks: &mut Tasks) {
    start_servers(tasks).await;
    start_2(tasks).await;
    start_clients(tasks).await;
}
