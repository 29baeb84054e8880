//! Services of tower, and both ends of a hyper connection, with a request in a handler that waits.

mod io;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use hyper::body::Incoming;
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::{Request, Response};
use tokio::time::sleep;
use tower::buffer::Buffer;
use tower::limit::rate::Rate;
use tower::limit::{ConcurrencyLimit, RateLimit};
use tower::timeout::Timeout;
use tower::util::{BoxCloneService, BoxService, Either};
use tower::{service_fn, BoxError, ServiceExt};
use truth::tree::{at, Node};
use truth::{here, Task, Truth, Wait, FOREVER};

use crate::io::Io;

async fn look_up(key: u32) -> Result<u32, BoxError> {
    here!("services::look_up");
    sleep(FOREVER).await;
    Ok(key)
}

async fn handle(request: u32) -> Result<u32, BoxError> {
    here!("services::handle");
    look_up(request).await
}

async fn limited_in_time() -> Result<u32, BoxError> {
    here!("services::limited_in_time");
    Timeout::new(service_fn(handle), FOREVER).oneshot(1).await
}

async fn limited_in_number() -> Result<u32, BoxError> {
    here!("services::limited_in_number");
    ConcurrencyLimit::new(service_fn(handle), 2).oneshot(2).await
}

type Handled = Pin<Box<dyn Future<Output = Result<u32, BoxError>> + Send>>;

/// The type of the inner service tells a future that the service is none of; the outer one has a
/// timer, which it does not poll while it has no request.
fn asked_of_a_buffer() -> Handled {
    let service = BoxCloneService::new(service_fn(handle));
    let buffer = Buffer::new(RateLimit::new(service, Rate::new(2, FOREVER)), 4);
    Box::pin(truth::leak(buffer).clone().oneshot(3))
}

async fn buffered(answer: Handled) -> Result<u32, BoxError> {
    here!("services::buffered");
    answer.await
}

async fn either(left: bool) -> Result<u32, BoxError> {
    let timeout = Timeout::new(service_fn(handle), FOREVER);
    let limit = ConcurrencyLimit::new(service_fn(handle), 2);
    let service = if left { Either::Left(timeout) } else { Either::Right(limit) };
    here!("services::either");
    service.oneshot(4).await
}

async fn boxed() -> Result<u32, BoxError> {
    let service = BoxService::new(Timeout::new(service_fn(handle), FOREVER));
    here!("services::boxed");
    service.oneshot(5).await
}

async fn mapped() -> Result<u32, BoxError> {
    let service = service_fn(handle).map_request(|key: u32| key + 1).map_response(|key| key + 1);
    here!("services::mapped");
    service.oneshot(6).await
}

async fn answer(request: Request<Incoming>) -> Result<Response<String>, BoxError> {
    here!("services::answer");
    let key = look_up(request.uri().path().len() as u32).await?;
    Ok(Response::new(key.to_string()))
}

async fn serve(io: Io) {
    let connection =
        server::Builder::new().serve_connection(io, hyper::service::service_fn(answer));
    here!("services::serve");
    connection.await.expect("the client is there");
}

async fn drive(connection: client::Connection<Io, String>) {
    here!("services::drive");
    connection.await.expect("the server is there");
}

async fn ask(mut requests: client::SendRequest<String>) -> u16 {
    here!("services::ask");
    let response = requests.send_request(Request::new(String::new())).await;
    response.map_or(0, |response| response.status().as_u16())
}

fn spawn<F>(future: F, tree: Node) -> Task
where
    F: Future + Send + 'static,
    F::Output: Debug + Send + 'static,
{
    Task::idle_tree(truth::id(&tokio::spawn(future)), tree)
}

fn spawn_services() -> Vec<Task> {
    let through = |name| at(name).then(at("services::handle").then(at("services::look_up")));
    vec![
        spawn(limited_in_time(), through("services::limited_in_time")),
        spawn(limited_in_number(), through("services::limited_in_number")),
        spawn(buffered(asked_of_a_buffer()), through("services::buffered")),
        // The task that hands a Buffer's requests on.
        Task::idle(None, &[]).waits(Wait::new("mpsc_recv")),
        spawn(either(true), through("services::either")),
        spawn(either(false), through("services::either")),
        spawn(boxed(), through("services::boxed")),
        spawn(mapped(), through("services::mapped")),
    ]
}

async fn spawn_connection() -> Vec<Task> {
    let (near, far) = tokio::io::duplex(4096);
    let answering = at("services::answer").then(at("services::look_up"));
    // It watches for the end of the connection meanwhile.
    let server = spawn(serve(Io(far)), at("services::serve").then(answering))
        .beside(Wait::new("duplex"))
        .leaves(2);
    let (requests, connection) = client::handshake(Io(near)).await.expect("nothing is sent");
    vec![
        server,
        spawn(drive(connection), at("services::drive")),
        spawn(ask(requests), at("services::ask")),
    ]
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let connection = spawn_connection().await;
    Truth::new("services")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(spawn_services())
        .tasks(connection)
        .block_on(&["services::main::{async_block#0}"])
        .publish();
    here!("services::main::{async_block#0}");
    std::future::pending::<()>().await;
}
