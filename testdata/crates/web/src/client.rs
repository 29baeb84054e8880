//! Clients of hyper, HTTP/1 and HTTP/2: the task of the connection and the one that waits for an
//! answer. Their servers are bare sockets, or h2.

use std::future::{poll_fn, Future};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper::Request;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use truth::{here, Task, Wait};

use crate::{connect, keep, Tasks};

type Sender = http1::SendRequest<Full<Bytes>>;

async fn drive(connection: http1::Connection<TokioIo<TcpStream>, Full<Bytes>>) {
    here!("web::client::drive");
    let _ = connection.await;
}

async fn ask(mut sender: Sender, body: Bytes) {
    let request = Request::post("/asked").body(Full::new(body)).expect("no request");
    here!("web::client::ask");
    let _ = sender.send_request(request).await;
}

/// Reads the body of an answer whose end does not come.
async fn read(mut sender: Sender) {
    let request = Request::get("/read").body(Full::default()).expect("no request");
    let answer = sender.send_request(request).await.expect("no answer");
    here!("web::client::read");
    let _ = answer.into_body().collect().await;
}

/// The connection has a request in progress already.
async fn ready(mut sender: Sender) {
    let request = Request::get("/ready").body(Full::default()).expect("no request");
    let mut first = Box::pin(sender.send_request(request));
    let once = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_pending()));
    assert!(once.await);
    here!("web::client::ready");
    let _ = sender.ready().await;
}

async fn ask_2(mut sender: http2::SendRequest<Empty<Bytes>>) {
    let request = Request::get("http://a/asked").body(Empty::new()).expect("no request");
    here!("web::client::ask_2");
    let _ = sender.send_request(request).await;
}

async fn drive_2(connection: http2::Connection<TokioIo<TcpStream>, Empty<Bytes>, Spawner>) {
    here!("web::client::drive_2");
    let _ = connection.await;
}

fn properties(task: Task, phase: &str) -> Task {
    let version = if phase == "new" { "HTTP/1" } else { "HTTP/1.1" };
    task.property("http_role", "client")
        .property("http_version", version)
        .property("http_phase", phase)
}

async fn start_one(tasks: &mut Tasks, phase: &str, method: Option<&str>) -> (Sender, TcpStream) {
    let (client, server) = connect().await;
    let (sender, connection) = http1::handshake(TokioIo::new(client)).await.expect("no handshake");
    tasks.spawn(&["web::client::drive"], drive(connection), |task| match method {
        Some(method) => properties(task, phase).property("http_method", method),
        None => properties(task, phase).no_property("http_method"),
    });
    (sender, server)
}

pub async fn start(tasks: &mut Tasks) {
    let (sender, server) = start_one(tasks, "new", None).await;
    keep((sender, server));

    let (sender, server) = start_one(tasks, "waiting for the answer", Some("POST")).await;
    tasks.spawn(&["web::client::ask"], ask(sender, Bytes::from_static(b"why")), |task| {
        task.waits(Wait::new("oneshot"))
    });
    keep(server);

    let (sender, server) = start_one(tasks, "writing", Some("POST")).await;
    tasks.spawn(&["web::client::ask"], ask(sender, vec![b'x'; 16 << 20].into()), |task| {
        task.waits(Wait::new("oneshot"))
    });
    keep(server);

    let (sender, mut server) = start_one(tasks, "reading body", Some("GET")).await;
    tasks.spawn(&["web::client::read"], read(sender), |task| {
        task.waits(Wait::new("http_body").with("value_there", false).with("sender_alive", true))
    });
    let mut buf = [0; 4];
    server.read_exact(&mut buf).await.expect("no request");
    server
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
        .await
        .expect("cannot answer");
    keep(server);

    let (sender, server) = start_one(tasks, "waiting for the answer", Some("GET")).await;
    tasks.spawn(&["web::client::ready"], ready(sender), |task| {
        task.waits(Wait::new("want").with("is_wanted", false).with("taker_alive", true))
    });
    keep(server);

    start_2(tasks).await;
    idle(tasks).await;
}

/// The tasks that hyper starts.
#[derive(Clone, Default)]
pub struct Spawner(Arc<Mutex<Vec<Option<u64>>>>);

impl Spawner {
    /// The ids of these tasks, once there are so many.
    pub async fn ids(&self, number: usize) -> Vec<Option<u64>> {
        while self.0.lock().unwrap().len() < number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.0.lock().unwrap().clone()
    }
}

impl<F> Executor<F> for Spawner
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        self.0.lock().unwrap().push(truth::id(&tokio::spawn(future)));
    }
}

/// The task of the connection and that of the request are hyper's own.
async fn start_2(tasks: &mut Tasks) {
    let (client, server) = connect().await;
    let spawner = Spawner::default();
    let (sender, connection) =
        http2::handshake(spawner.clone(), TokioIo::new(client)).await.expect("no handshake");
    tasks.spawn(&["web::client::drive_2"], drive_2(connection), |task| task);
    tasks.spawn(&["web::client::ask_2"], ask_2(sender), |task| task.waits(Wait::new("oneshot")));
    let ids = spawner.ids(2).await;
    tasks.add(
        Task::idle(ids[0], &[])
            .property("http_role", "client")
            .property("http_version", "HTTP/2")
            .property("http_streams", 1),
    );
    tasks.add(Task::idle(ids[1], &[]).beside(Wait::new("http_stream").with("wants", "answer")));
    keep(server);
}

/// A connection that is kept after an answer.
async fn idle(tasks: &mut Tasks) {
    let (mut sender, mut server) = start_one(tasks, "idle", None).await;
    let request = Request::get("/first").body(Full::default()).expect("no request");
    let (answer, ()) = tokio::join!(sender.send_request(request), async {
        let mut buf = [0; 4];
        server.read_exact(&mut buf).await.expect("no request");
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";
        server.write_all(head).await.expect("cannot answer");
    });
    answer.expect("no answer").into_body().collect().await.expect("no body");
    keep((sender, server));
}
