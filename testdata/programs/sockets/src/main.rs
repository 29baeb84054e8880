//! Tasks that wait for the kernel: sockets, pipes, processes, signals; and for their like in memory.

mod local;
mod memory;
mod other;
mod pipes;
mod tcp;
mod udp;

use std::future::Future;
use std::os::unix::io::AsRawFd;

use truth::{here, Fact, Task, Truth};

type Facts = Vec<(&'static str, Fact)>;

/// The tasks started so far.
pub struct Tasks(Vec<Task>);

impl Tasks {
    /// Spawns a future whose coroutines are chain and that ends in a wait of this kind.
    pub fn spawn<F>(&mut self, chain: &[&'static str], kind: &'static str, facts: Facts, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(Task::idle(id, chain).waits(kind, facts));
    }
}

pub fn text(text: impl ToString) -> Fact {
    Fact::Text(text.to_string())
}

/// Waits until one can read from, or write to, the object of this fd.
pub fn io(resource: &str, direction: &str, object: &impl AsRawFd) -> Facts {
    let fd = Fact::Number(object.as_raw_fd().into());
    vec![("resource", text(resource)), ("direction", text(direction)), ("fd", fd)]
}

/// Says where a socket is connected.
pub fn connected(mut facts: Facts, local: impl ToString, peer: impl ToString) -> Facts {
    facts.extend(vec![("local", text(local)), ("peer", text(peer))]);
    facts
}

/// Keeps it open as long as the process lives.
pub fn keep<T>(object: T) {
    std::mem::forget(object);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks(Vec::new());
    tcp::start(&mut tasks);
    udp::start(&mut tasks);
    local::start(&mut tasks);
    pipes::start(&mut tasks);
    memory::start(&mut tasks);
    other::start(&mut tasks);
    Truth::new("sockets")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .block_on(&["sockets::main::{async_block#0}"])
        .blocking("tokio::io::blocking")
        .blocking("tokio::fs::file")
        .publish();
    here!("sockets::main::{async_block#0}");
    std::future::pending::<()>().await;
}
