//! Connections of quinn: who waits for a stream, for data of one, or for room to send more.

/// The name of a coroutine of this module.
macro_rules! name {
    ($of:literal) => {
        concat!(module_path!(), "::", $of)
    };
}

mod new;
mod old;

use std::future::Future;
use std::net::SocketAddr;

use truth::{here, Task, Truth, Wait};

/// The tasks started so far.
pub struct Tasks(Vec<Task>);

impl Tasks {
    pub fn spawn<F>(&mut self, function: &'static str, future: F, more: impl Fn(Task) -> Task)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(more(Task::idle(id, &[function])));
    }
}

/// Of the tasks that wait for a stream or a datagram of a connection.
pub fn of_connection(
    task: Task,
    role: &'static str,
    peer: SocketAddr,
    wants: &'static str,
) -> Task {
    task.property("quic_role", role)
        .property("quic_peer", peer.to_string())
        .property("wants", wants)
        .waits(Wait::new("notify"))
}

pub fn of_stream(task: Task, peer: SocketAddr, id: i64, wants: &'static str) -> Task {
    task.waits(
        Wait::new("quic_stream")
            .with("quic_closed", false)
            .with("stream", id)
            .with("quic_role", "client")
            .with("quic_peer", peer.to_string())
            .with("wants", wants),
    )
}

/// A certificate for localhost, and its key.
pub fn certificate() -> (Vec<u8>, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).expect("no key");
    (made.cert.der().to_vec(), made.signing_key.serialize_der())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    new::start(&mut tasks).await;
    old::start(&mut tasks).await;
    Truth::new("quic")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .block_on(&["quic::main::{async_block#0}"])
        .publish();
    here!("quic::main::{async_block#0}");
    std::future::pending::<()>().await;
}
