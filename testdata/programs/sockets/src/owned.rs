//! Tasks that own sockets and wait for none: in variables, in what variables own, and together.

use std::collections::HashMap;
use std::future::Future;
use std::os::unix::io::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, BufReader, ReadHalf, WriteHalf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::{mpsc, Mutex};
use tokio::time::sleep;
use truth::{here, Own, Task, FOREVER};

use crate::tcp::pair;
use crate::Tasks;

/// The tasks, and what they own.
struct Owners<'a> {
    tasks: &'a mut Tasks,
    owns: Vec<Own>,
}

impl Owners<'_> {
    /// A task that sleeps in this coroutine and has these descriptors there.
    fn spawn<F>(&mut self, name: &'static str, owns: &[(i32, &'static str)], future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.tasks.0.push(Task::idle(id, &[name]).sleeps());
        self.owns.extend(owns.iter().map(|&(fd, path)| Own { task: id, fd, path, sure: true }));
    }

    /// What the last one owns may have been moved out of its variable.
    fn in_doubt(&mut self) {
        self.owns.last_mut().expect("it owns nothing").sure = false;
    }
}

#[allow(dead_code)]
struct Connection {
    number: u32,
    stream: TcpStream,
}

/// Like a stream of TLS: the socket beside what is to be sent.
#[allow(dead_code)]
struct Wrapped<S> {
    io: S,
    pending: Vec<u8>,
}

async fn plain(stream: TcpStream) {
    here!("sockets::owned::plain");
    sleep(FOREVER).await;
    drop(stream);
}

async fn field(connection: Connection) {
    here!("sockets::owned::field");
    sleep(FOREVER).await;
    drop(connection);
}

async fn several(streams: Vec<TcpStream>) {
    here!("sockets::owned::several");
    sleep(FOREVER).await;
    drop(streams);
}

async fn mapped(streams: HashMap<u32, TcpStream>) {
    here!("sockets::owned::mapped");
    sleep(FOREVER).await;
    drop(streams);
}

async fn wrapped(reader: Wrapped<BufReader<TcpStream>>) {
    here!("sockets::owned::wrapped");
    sleep(FOREVER).await;
    drop(reader);
}

async fn boxed(stream: Pin<Box<dyn AsyncRead + Send>>) {
    here!("sockets::owned::boxed");
    sleep(FOREVER).await;
    drop(stream);
}

async fn owned_reader(half: OwnedReadHalf) {
    here!("sockets::owned::owned_reader");
    sleep(FOREVER).await;
    drop(half);
}

async fn owned_writer(half: OwnedWriteHalf) {
    here!("sockets::owned::owned_writer");
    sleep(FOREVER).await;
    drop(half);
}

async fn split_reader(half: ReadHalf<TcpStream>) {
    here!("sockets::owned::split_reader");
    sleep(FOREVER).await;
    drop(half);
}

async fn split_writer(half: WriteHalf<TcpStream>) {
    here!("sockets::owned::split_writer");
    sleep(FOREVER).await;
    drop(half);
}

async fn locked(stream: Arc<Mutex<TcpStream>>) {
    here!("sockets::owned::locked");
    sleep(FOREVER).await;
    drop(stream);
}

async fn datagrams(socket: Arc<UdpSocket>) {
    here!("sockets::owned::datagrams");
    sleep(FOREVER).await;
    drop(socket);
}

async fn queued(queue: mpsc::Receiver<TcpStream>) {
    here!("sockets::owned::queued");
    sleep(FOREVER).await;
    drop(queue);
}

async fn listening(listener: std::net::TcpListener) {
    here!("sockets::owned::listening");
    sleep(FOREVER).await;
    drop(listener);
}

/// Has given it away.
async fn passing(stream: TcpStream) {
    here!("sockets::owned::passing");
    plain(stream).await;
}

fn connect() -> (TcpStream, i32) {
    let stream = pair().expect("cannot connect");
    let fd = stream.as_raw_fd();
    (stream, fd)
}

fn start_alone(owners: &mut Owners) {
    let (stream, fd) = connect();
    owners.spawn("sockets::owned::plain", &[(fd, "stream")], plain(stream));
    let (stream, fd) = connect();
    let connection = Connection { number: 7, stream };
    owners.spawn("sockets::owned::field", &[(fd, "connection.stream")], field(connection));
    owners.in_doubt();
    let ((one, first), (other, second)) = (connect(), connect());
    let owns = [(first, "streams[0]"), (second, "streams[1]")];
    owners.spawn("sockets::owned::several", &owns, several(vec![one, other]));
    let (stream, fd) = connect();
    let streams = HashMap::from([(3, stream)]);
    owners.spawn("sockets::owned::mapped", &[(fd, "streams.table[0].1")], mapped(streams));
    let (stream, fd) = connect();
    let reader = Wrapped { io: BufReader::new(stream), pending: vec![1, 2] };
    owners.spawn("sockets::owned::wrapped", &[(fd, "reader.io.inner")], wrapped(reader));
    owners.in_doubt();
    let (stream, fd) = connect();
    owners.spawn("sockets::owned::boxed", &[(fd, "stream")], boxed(Box::pin(stream)));
    let (stream, fd) = connect();
    let (sender, queue) = mpsc::channel(4);
    sender.try_send(stream).expect("no room");
    owners.spawn("sockets::owned::queued", &[(fd, "queue.queued[0]")], queued(queue));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("cannot listen");
    let fd = listener.as_raw_fd();
    owners.spawn("sockets::owned::listening", &[(fd, "listener")], listening(listener));
    owners.in_doubt();
}

fn start_together(owners: &mut Owners) {
    let (stream, fd) = connect();
    let (reader, writer) = stream.into_split();
    owners.spawn("sockets::owned::owned_reader", &[(fd, "half.inner")], owned_reader(reader));
    owners.spawn("sockets::owned::owned_writer", &[(fd, "half.inner")], owned_writer(writer));
    let (stream, fd) = connect();
    let (reader, writer) = tokio::io::split(stream);
    let owns = [(fd, "half.inner.stream")];
    owners.spawn("sockets::owned::split_reader", &owns, split_reader(reader));
    owners.spawn("sockets::owned::split_writer", &owns, split_writer(writer));
    let (stream, fd) = connect();
    let stream = Arc::new(Mutex::new(stream));
    for stream in [stream.clone(), stream] {
        owners.spawn("sockets::owned::locked", &[(fd, "stream.c")], locked(stream));
    }
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("cannot bind");
    socket.set_nonblocking(true).unwrap();
    let socket = Arc::new(UdpSocket::from_std(socket).expect("no runtime"));
    let fd = socket.as_raw_fd();
    for socket in [socket.clone(), socket] {
        owners.spawn("sockets::owned::datagrams", &[(fd, "socket")], datagrams(socket));
    }
}

pub fn start(tasks: &mut Tasks) -> Vec<Own> {
    let mut owners = Owners { tasks, owns: Vec::new() };
    start_alone(&mut owners);
    start_together(&mut owners);
    let (stream, fd) = connect();
    let id = truth::id(&tokio::spawn(passing(stream)));
    let chain = ["sockets::owned::passing", "sockets::owned::plain"];
    owners.tasks.0.push(Task::idle(id, &chain).sleeps());
    owners.owns.push(Own { task: id, fd, path: "stream", sure: true });
    owners.owns
}
