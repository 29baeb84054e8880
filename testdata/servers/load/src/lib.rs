//! Clients that load a server, and the control over them.
//!
//! The process prints `ready` and a truth once the load is steady. From then on a line `hold`
//! on stdin stops the clients between two requests, with their connections open; `held` and a
//! truth say that all are stopped and every thread sleeps. A line `go` lets them continue,
//! which `going` confirms. The process ends when stdin does. The truth has how many requests of
//! each client were answered: a client numbers them, from 1.

use std::future::Future;
use std::io::{self, BufRead};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::watch;

pub const CLIENTS: usize = 16;

/// So many requests of every client make the load steady.
const WARM_UP: usize = 20;
/// Between two requests, so that the load is bounded.
const PAUSE: Duration = Duration::from_millis(2);
const WATCHDOG: Duration = Duration::from_secs(10 * 60);

/// What clients pass between two requests.
pub struct Gate {
    closed: watch::Sender<bool>,
    waiting: AtomicUsize,
    /// Of each client.
    answered: Vec<AtomicUsize>,
}

impl Gate {
    fn new(clients: usize) -> Arc<Gate> {
        let closed = watch::Sender::new(false);
        let answered = (0..clients).map(|_| AtomicUsize::new(0)).collect();
        Arc::new(Gate { closed, waiting: AtomicUsize::new(0), answered })
    }

    fn answered(&self) -> Vec<usize> {
        self.answered.iter().map(|number| number.load(Ordering::SeqCst)).collect()
    }

    /// Waits while the clients are held.
    async fn pass(&self) {
        let mut closed = self.closed.subscribe();
        if *closed.borrow() {
            self.waiting.fetch_add(1, Ordering::SeqCst);
            closed.wait_for(|closed| !closed).await.expect("the gate is gone");
            self.waiting.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Something with one connection to the server.
pub trait Client: Send + 'static {
    fn request(&mut self, number: usize) -> impl Future<Output = ()> + Send;
}

async fn drive(mut client: impl Client, index: usize, gate: Arc<Gate>) {
    for number in 1.. {
        client.request(number).await;
        gate.answered[index].store(number, Ordering::SeqCst);
        gate.pass().await;
        tokio::time::sleep(PAUSE).await;
    }
}

/// Lets the clients work on the runtime until stdin ends. The truth has these members too: a key, and JSON.
pub fn run_with<C: Client>(runtime: &Runtime, clients: Vec<C>, more: &[(&str, String)]) -> ! {
    let count = clients.len();
    let gate = Gate::new(count);
    for (index, client) in clients.into_iter().enumerate() {
        runtime.spawn(drive(client, index, gate.clone()));
    }
    thread::spawn(|| {
        thread::sleep(WATCHDOG);
        process::exit(3);
    });
    wait_until(|| gate.answered().iter().all(|&number| number >= WARM_UP));
    truth::say("ready");
    truth::say(&truth_of(runtime, &gate, more));
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match line.trim() {
            "hold" => {
                gate.closed.send_replace(true);
                wait_until(|| gate.waiting.load(Ordering::SeqCst) == count);
                wait_until(|| truth::quiet::check(&[]).is_ok());
                truth::say(&format!("held {}", truth_of(runtime, &gate, more)));
            }
            "go" => {
                gate.closed.send_replace(false);
                wait_until(|| gate.waiting.load(Ordering::SeqCst) == 0);
                truth::say("going");
            }
            other => eprintln!("hold or go, not {:?}", other),
        }
    }
    process::exit(0)
}

fn truth_of(runtime: &Runtime, gate: &Gate, more: &[(&str, String)]) -> String {
    let number = runtime.metrics().num_alive_tasks();
    let more: String = more.iter().map(|(key, json)| format!(",\"{}\":{}", key, json)).collect();
    let answered = gate.answered();
    format!("{{\"num_alive_tasks\":{},\"answered\":{:?}{}}}", number, answered, more)
}

fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}
