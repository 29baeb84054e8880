//! Events that servers of warp send, with hyper 1 and with 0.14: one that keeps its connection alive
//! by a timer, one that does not.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;

use futures_util::stream::{once, Stream};
use futures_util::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use truth::{here, Task, FOREVER};
use warp::Filter;
use warp_03::Filter as _;

use crate::{keep, lock, locked, theirs, Lock};

async fn event(lock: Lock) -> Result<warp::sse::Event, Infallible> {
    here!("frameworks::events::event");
    let number = locked(lock).await;
    Ok(warp::sse::Event::default().data(number.to_string()))
}

fn events(lock: Lock) -> impl Stream<Item = Result<warp::sse::Event, Infallible>> + Send {
    once(event(lock)).chain(futures_util::stream::pending())
}

async fn event_03(lock: Lock) -> Result<warp_03::sse::Event, Infallible> {
    here!("frameworks::events::event_03");
    let number = locked(lock).await;
    Ok(warp_03::sse::Event::default().data(number.to_string()))
}

fn server(listener: TcpListener, lock: Lock) -> impl Future<Output = ()> + Send {
    let plain = warp::path("plain").map(move || warp::sse::reply(events(lock)));
    let alive = warp::path("alive").map(move || {
        warp::sse::reply(warp::sse::keep_alive().interval(FOREVER).stream(events(lock)))
    });
    warp::serve(plain.or(alive)).incoming(listener).run()
}

async fn serve(server: impl Future<Output = ()>) {
    here!("frameworks::events::serve");
    server.await;
}

async fn ask(address: SocketAddr, path: &str) {
    let mut stream = TcpStream::connect(address).await.expect("cannot connect");
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("cannot write");
    keep(stream);
}

pub async fn start(tasks: &mut Vec<Task>) {
    let (lock, wait) = lock();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    let server = tokio::spawn(serve(server(listener, lock)));
    tasks.push(Task::idle(truth::id(&server), &["frameworks::events::serve"]));
    let chain = ["frameworks::events::event", "frameworks::locked"];
    ask(address, "/plain").await;
    tasks.push(theirs(&chain).waits(wait.clone()));
    ask(address, "/alive").await;
    tasks.push(theirs(&chain).waits(wait.clone()));

    let (lock, wait) = crate::lock();
    let routes = warp_03::path("plain").map(move || warp_03::sse::reply(once(event_03(lock))));
    let (address, server) = warp_03::serve(routes).bind_ephemeral(([127, 0, 0, 1], 0));
    let server = tokio::spawn(serve(server));
    tasks.push(Task::idle(truth::id(&server), &["frameworks::events::serve"]));
    let chain = ["frameworks::events::event_03", "frameworks::locked"];
    ask(address, "/plain").await;
    tasks.push(theirs(&chain).waits(wait.clone()));
}
