//! Streams of tonic: a server's answers, and what a client sends. The code is what a compiler makes of
//! "service Ticker { rpc Follow(Tick) returns (stream Tick); rpc Push(stream Tick) returns (Tick); }".

use std::convert::Infallible;
use std::future::{ready, Ready};
use std::net::SocketAddr;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::stream::{once, BoxStream};
use futures_util::{FutureExt, StreamExt};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codegen::{http, Service};
use tonic::server::{ClientStreamingService, Grpc, NamedService, ServerStreamingService};
use tonic::transport::{Channel, Server};
use tonic::{client, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use truth::{here, Task, Wait};

use crate::{keep, lock, locked, theirs, Lock};

#[derive(Clone, PartialEq, prost::Message)]
struct Tick {
    #[prost(uint32, tag = "1")]
    number: u32,
}

async fn tick(lock: Lock) -> Result<Tick, Status> {
    here!("frameworks::rpc::tick");
    Ok(Tick { number: locked(lock).await })
}

/// The one message of a client.
async fn pushed(lock: Lock) -> Tick {
    here!("frameworks::rpc::pushed");
    Tick { number: locked(lock).await }
}

#[derive(Clone, Copy)]
struct Ticker(Lock);

impl NamedService for Ticker {
    const NAME: &'static str = "Ticker";
}

impl ServerStreamingService<Tick> for Ticker {
    type Response = Tick;
    type ResponseStream = BoxStream<'static, Result<Tick, Status>>;
    type Future = Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, _: Request<Tick>) -> Self::Future {
        ready(Ok(Response::new(once(tick(self.0)).boxed())))
    }
}

/// Takes what a client sends.
async fn take(mut sent: Streaming<Tick>) -> Result<Response<Tick>, Status> {
    let mut last = Tick::default();
    here!("frameworks::rpc::take");
    while let Some(tick) = sent.message().await? {
        last = tick;
    }
    Ok(Response::new(last))
}

impl ClientStreamingService<Tick> for Ticker {
    type Response = Tick;
    type Future = BoxFuture<'static, Result<Response<Tick>, Status>>;

    fn call(&mut self, request: Request<Streaming<Tick>>) -> Self::Future {
        take(request.into_inner()).boxed()
    }
}

impl Service<http::Request<Body>> for Ticker {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match request.uri().path() {
            "/Ticker/Follow" => answer(*self, request).boxed(),
            _ => collect(*self, request).boxed(),
        }
    }
}

type Answer = Result<http::Response<Body>, Infallible>;

async fn answer(ticker: Ticker, request: http::Request<Body>) -> Answer {
    let mut grpc = Grpc::new(ProstCodec::<Tick, Tick>::default());
    Ok(grpc.server_streaming(ticker, request).await)
}

async fn collect(ticker: Ticker, request: http::Request<Body>) -> Answer {
    let mut grpc = Grpc::new(ProstCodec::<Tick, Tick>::default());
    here!("frameworks::rpc::collect");
    Ok(grpc.client_streaming(ticker, request).await)
}

async fn serve(listener: TcpListener, ticker: Ticker) {
    let incoming = TcpListenerStream::new(listener);
    here!("frameworks::rpc::serve");
    let _ = Server::builder().add_service(ticker).serve_with_incoming(incoming).await;
}

async fn connect(address: SocketAddr) -> client::Grpc<Channel> {
    let endpoint = Channel::from_shared(format!("http://{address}")).expect("no address");
    client::Grpc::new(endpoint.connect().await.expect("cannot connect"))
}

/// Asks for the ticks of a server.
async fn follow(mut client: client::Grpc<Channel>) {
    let path = http::uri::PathAndQuery::from_static("/Ticker/Follow");
    let request = Request::new(Tick::default());
    let codec = ProstCodec::<Tick, Tick>::default();
    client.ready().await.expect("not ready");
    let answer = client.server_streaming(request, path, codec).await.expect("no answer");
    let mut ticks = answer.into_inner();
    here!("frameworks::rpc::follow");
    let _ = ticks.message().await;
}

/// Sends ticks to a server.
async fn push(mut client: client::Grpc<Channel>, lock: Lock) {
    let path = http::uri::PathAndQuery::from_static("/Ticker/Push");
    let request = Request::new(once(pushed(lock)));
    let codec = ProstCodec::<Tick, Tick>::default();
    client.ready().await.expect("not ready");
    here!("frameworks::rpc::push");
    let answer: Result<Response<Tick>, _> = client.client_streaming(request, path, codec).await;
    keep(answer);
}

pub async fn start(tasks: &mut Vec<Task>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    let (answers, wait) = lock();
    let server = tokio::spawn(serve(listener, Ticker(answers)));
    tasks.push(Task::idle(truth::id(&server), &["frameworks::rpc::serve"]));

    let client = connect(address).await;
    let data = Wait::new("http_stream").with("wants", "data");
    let task = tokio::spawn(follow(client.clone()));
    tasks.push(Task::idle(truth::id(&task), &["frameworks::rpc::follow"]).waits(data.clone()));
    let chain = ["frameworks::rpc::tick", "frameworks::locked"];
    tasks.push(theirs(&chain).waits(wait).beside(send()));

    let (sent, wait) = lock();
    let task = tokio::spawn(push(client, sent));
    let waits = Wait::new("oneshot");
    tasks.push(Task::idle(truth::id(&task), &["frameworks::rpc::push"]).waits(waits));
    let chain = ["frameworks::rpc::pushed", "frameworks::locked"];
    tasks.push(theirs(&chain).beside(wait).beside(send()));
    let chain = ["frameworks::rpc::collect", "frameworks::rpc::take"];
    tasks.push(theirs(&chain).waits(data));

    // The server's connection; the client's, and who feeds it; the queue of requests; the answer.
    for _ in 0..5 {
        tasks.push(theirs(&[]));
    }
}

/// The other wait of a body, beside that for its next part: the peer may reset the stream.
fn send() -> Wait {
    Wait::new("http_stream").with("wants", "send")
}
