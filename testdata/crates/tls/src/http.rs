//! Connections of hyper over TLS; what a client of HTTP/1 sends; the time that a server gives the
//! head of a request.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn as client;
use hyper::rt::{Sleep, Timer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::server;
use truth::{here, Wait};

use crate::new::Tls;
use crate::{connect, keep, Tasks, NAME};

/// More than the buffers of two sockets can hold.
const MUCH: usize = 16 << 20;

type Answer = Result<Response<Full<Bytes>>, Infallible>;

async fn serve(_request: Request<Incoming>) -> Answer {
    Ok(Response::new(Full::new("fine".into())))
}

async fn secure(stream: server::TlsStream<TcpStream>) {
    here!("tls::http::secure");
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(serve)).await;
}

/// The first versions of hyper-util have no timer.
struct Clock;

struct Alarm(Pin<Box<time::Sleep>>);

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Sleep for Alarm {}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Alarm(Box::pin(time::sleep(duration))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Alarm(Box::pin(time::sleep_until(deadline.into()))))
    }
}

/// With a limit on the time in which the head of a request must come.
async fn limited(stream: TcpStream) {
    let mut builder = http1::Builder::new();
    builder.timer(Clock).header_read_timeout(Duration::from_secs(3600));
    here!("tls::http::limited");
    let _ = builder.serve_connection(TokioIo::new(stream), service_fn(serve)).await;
}

async fn drive(connection: client::http1::Connection<TokioIo<TcpStream>, Full<Bytes>>) {
    here!("tls::http::drive");
    let _ = connection.await;
}

async fn ask(mut sender: client::http1::SendRequest<Full<Bytes>>) {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = "/unsent?secret=1".parse().expect("bad path");
    let much = "x".repeat(MUCH).parse().expect("bad header");
    request.headers_mut().insert("much", much);
    here!("tls::http::ask");
    let _ = sender.send_request(request).await;
}

pub async fn start(tasks: &mut Tasks) {
    let (mut client, server) = Tls::new(&TLS13).pair().await;
    tasks.spawn(&["tls::http::secure"], secure(server), |task| {
        task.property("http_role", "server").property("http_phase", "idle").waits(
            Wait::new("io")
                .with("tls_role", "server")
                .with("tls_phase", "established")
                .with("tls_server_name", NAME),
        )
    });
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("cannot write");
    let mut buf = [0; 16];
    client.read_exact(&mut buf).await.expect("no answer");
    keep(client);

    let (mut client, server) = connect().await;
    client.write_all(b"GET /half HTTP/1.1\r\nHo").await.expect("cannot write");
    tasks.spawn(&["tls::http::limited"], limited(server), |task| {
        task.property("http_phase", "reading head").property("http_head_timeout_ms", 3_600_000)
    });
    keep(client);

    let (stream, server) = connect().await;
    let (sender, connection) =
        client::http1::handshake(TokioIo::new(stream)).await.expect("no handshake");
    tasks.spawn(&["tls::http::drive"], drive(connection), |task| {
        task.property("http_role", "client")
            .property("http_phase", "writing")
            .property("http_method", "GET")
            .property("http_path", "/unsent")
    });
    tasks.spawn(&["tls::http::ask"], ask(sender), |task| task);
    keep(server);
}
