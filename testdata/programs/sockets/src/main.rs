//! Tasks that wait for the kernel: sockets, pipes, processes, signals; and for their like in memory.

mod directions;
mod local;
mod memory;
mod opaque;
mod other;
mod owned;
mod pipes;
mod tcp;
mod udp;

use std::future::Future;
use std::os::unix::io::AsRawFd;
use std::sync::Mutex;

use truth::{here, Task, Truth, Wait};

/// The tasks started so far.
pub struct Tasks(Vec<Task>);

impl Tasks {
    /// Spawns a future whose coroutines are chain and that ends in this wait.
    pub fn spawn<F>(&mut self, chain: &[&'static str], wait: Wait, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let id = truth::id(&tokio::spawn(future));
        self.0.push(Task::idle(id, chain).waits(wait));
    }

    /// In another branch, the last one waits for this too.
    pub fn beside(&mut self, wait: Wait) {
        let last = self.0.pop().expect("no task yet");
        self.0.push(last.beside(wait));
    }
}

/// Waits until one can read from such an object, or write to it.
pub fn io(resource: &str, direction: &str) -> Wait {
    Wait::new("io").with("resource", resource).with("direction", direction)
}

/// The same of an object with a known fd.
pub fn io_of(resource: &str, direction: &str, object: &impl AsRawFd) -> Wait {
    io(resource, direction).with("fd", object.as_raw_fd())
}

/// More than the buffers of two sockets can hold.
pub const MUCH: usize = 64 << 20;

/// So many zeros, which all tasks share: what a program has is in its core.
pub fn much() -> &'static [u8] {
    static DATA: Mutex<Option<&'static [u8]>> = Mutex::new(None);
    *DATA.lock().unwrap().get_or_insert_with(|| truth::leak(vec![0; MUCH]))
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
    directions::start(&mut tasks);
    if cfg!(feature = "since_1_30") {
        opaque::start(&mut tasks);
    }
    let owns = owned::start(&mut tasks);
    Truth::new("sockets")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.0)
        .owns(owns)
        .block_on(&["sockets::main::{async_block#0}"])
        .blocking("tokio::io::blocking")
        .blocking("tokio::fs::file")
        .publish();
    here!("sockets::main::{async_block#0}");
    std::future::pending::<()>().await;
}
