//! UDP on the loopback device.

use tokio::net::UdpSocket;
use truth::here;

use crate::{io_of, Tasks};

async fn recv(socket: UdpSocket) {
    let mut buf = [0; 16];
    here!("sockets::udp::recv");
    let _ = socket.recv(&mut buf).await;
}

async fn recv_from(socket: UdpSocket) {
    let mut buf = [0; 16];
    here!("sockets::udp::recv_from");
    let _ = socket.recv_from(&mut buf).await;
}

fn bound() -> std::net::UdpSocket {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("cannot bind");
    socket.set_nonblocking(true).unwrap();
    socket
}

pub fn start(tasks: &mut Tasks) {
    let socket = bound();
    let facts = io_of("UdpSocket", "readable", &socket);
    let facts = facts.with("local", socket.local_addr().unwrap().to_string());
    let future = recv_from(UdpSocket::from_std(socket).unwrap());
    tasks.spawn(&["sockets::udp::recv_from"], facts, future);

    let socket = bound();
    socket.connect("127.0.0.1:9").expect("cannot connect");
    let facts = io_of("UdpSocket", "readable", &socket);
    let facts = facts.with("local", socket.local_addr().unwrap().to_string());
    let facts = facts.with("peer", "127.0.0.1:9");
    let future = recv(UdpSocket::from_std(socket).unwrap());
    tasks.spawn(&["sockets::udp::recv"], facts, future);
}
