//! TCP on the loopback device.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Interest};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use truth::{here, Wait};

use crate::{io, io_of, keep, much, Tasks};

async fn accept(listener: TcpListener) {
    here!("sockets::tcp::accept");
    let _ = listener.accept().await;
}

async fn ask(address: SocketAddr) {
    here!("sockets::tcp::ask");
    let _ = TcpStream::connect(address).await;
}

/// The queue of who listens there is full: the kernel drops what asks for a connection.
fn full() -> SocketAddr {
    let socket = TcpSocket::new_v4().expect("no socket");
    socket.bind("127.0.0.1:0".parse().unwrap()).expect("cannot bind");
    let listener = socket.listen(0).expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    keep(std::net::TcpStream::connect(address).expect("cannot connect"));
    keep(listener);
    address
}

async fn read(mut stream: TcpStream) {
    let mut buf = [0; 16];
    here!("sockets::tcp::read");
    let _ = stream.read(&mut buf).await;
}

async fn read_exact(mut stream: TcpStream) {
    let mut buf = [0; 16];
    here!("sockets::tcp::read_exact");
    let _ = stream.read_exact(&mut buf).await;
}

async fn read_line(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    here!("sockets::tcp::read_line");
    let _ = reader.read_line(&mut line).await;
}

async fn write_all(mut stream: TcpStream) {
    here!("sockets::tcp::write_all");
    let _ = stream.write_all(much()).await;
}

async fn readable(stream: TcpStream) {
    here!("sockets::tcp::readable");
    let _ = stream.readable().await;
}

async fn writable(stream: TcpStream) {
    let data = vec![0; 1 << 20];
    loop {
        if stream.try_write(&data).is_err() {
            here!("sockets::tcp::writable");
            let _ = stream.writable().await;
        }
    }
}

async fn ready(stream: TcpStream) {
    here!("sockets::tcp::ready");
    let _ = stream.ready(Interest::READABLE).await;
}

async fn peek(stream: TcpStream) {
    let mut buf = [0; 16];
    here!("sockets::tcp::peek");
    let _ = stream.peek(&mut buf).await;
}

async fn read_half(stream: TcpStream) {
    let (mut reader, writer) = stream.into_split();
    keep(writer);
    let mut buf = [0; 16];
    here!("sockets::tcp::read_half");
    let _ = reader.read(&mut buf).await;
}

async fn read_split(stream: TcpStream) {
    let (mut reader, writer) = tokio::io::split(stream);
    keep(writer);
    let mut buf = [0; 16];
    here!("sockets::tcp::read_split");
    let _ = reader.read(&mut buf).await;
}

async fn copy(mut from: TcpStream, mut to: TcpStream) {
    here!("sockets::tcp::copy");
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

async fn copy_both(mut one: TcpStream, mut other: TcpStream) {
    here!("sockets::tcp::copy_both");
    let _ = tokio::io::copy_bidirectional(&mut one, &mut other).await;
}

async fn connect(server: SocketAddr) {
    loop {
        // The kernel gives up after two minutes.
        here!("sockets::tcp::connect");
        let _ = TcpStream::connect(server).await;
    }
}

async fn connect_socket(socket: TcpSocket, server: SocketAddr) {
    here!("sockets::tcp::connect_socket");
    let _ = socket.connect(server).await;
}

/// Two ends of a connection; the second one stays open and silent.
pub fn pair() -> io::Result<TcpStream> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let stream = std::net::TcpStream::connect(listener.local_addr()?)?;
    keep(listener.accept()?);
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

pub fn stream(direction: &str) -> (TcpStream, Wait) {
    let stream = pair().expect("cannot connect");
    let facts = io_of("TcpStream", direction, &stream);
    let (local, peer) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
    (stream, facts.with("local", local.to_string()).with("peer", peer.to_string()))
}

/// A server whose queue is full: it answers no more.
fn full_server() -> io::Result<SocketAddr> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(0)?;
    let addr = listener.local_addr()?;
    keep(listener);
    keep(std::net::TcpStream::connect(addr)?);
    Ok(addr)
}

fn listen(tasks: &mut Tasks, addr: &str) {
    let listener = std::net::TcpListener::bind(addr).expect("cannot listen");
    listener.set_nonblocking(true).unwrap();
    let facts = io_of("TcpListener", "readable", &listener);
    let facts = facts.with("local", listener.local_addr().unwrap().to_string());
    let listener = TcpListener::from_std(listener).unwrap();
    tasks.spawn(&["sockets::tcp::accept"], facts, accept(listener));
}

macro_rules! spawn {
    ($tasks:expr, $name:ident, $direction:expr) => {
        let (stream, facts) = stream($direction);
        $tasks.spawn(&[concat!("sockets::tcp::", stringify!($name))], facts, $name(stream));
    };
}

pub fn start(tasks: &mut Tasks) {
    let connecting = io("TcpStream", "writable").with("tcp_state", "syn_sent");
    tasks.spawn(&["sockets::tcp::ask"], connecting, ask(full()));
    listen(tasks, "127.0.0.1:0");
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        listen(tasks, "[::1]:0");
    }
    spawn!(tasks, read, "readable");
    spawn!(tasks, read_exact, "readable");
    spawn!(tasks, read_line, "readable");
    spawn!(tasks, write_all, "writable");
    spawn!(tasks, readable, "readable");
    spawn!(tasks, writable, "writable");
    spawn!(tasks, ready, "readable");
    spawn!(tasks, peek, "readable");
    spawn!(tasks, read_half, "readable");
    spawn!(tasks, read_split, "readable");
    let (from, facts) = stream("readable");
    let (to, _) = stream("writable");
    tasks.spawn(&["sockets::tcp::copy"], facts, copy(from, to));
    let (one, facts) = stream("readable");
    let (other, beside) = stream("readable");
    tasks.spawn(&["sockets::tcp::copy_both"], facts, copy_both(one, other));
    tasks.beside(beside);
    let server = full_server().expect("cannot listen");
    let facts = io("TcpStream", "writable").with("peer", server.to_string());
    tasks.spawn(&["sockets::tcp::connect"], facts, connect(server));
    let socket = TcpSocket::new_v4().expect("cannot make a socket");
    let facts = io_of("TcpStream", "writable", &socket);
    let facts = facts.with("peer", server.to_string());
    let future = connect_socket(socket, server);
    tasks.spawn(&["sockets::tcp::connect_socket"], facts, future);
}
