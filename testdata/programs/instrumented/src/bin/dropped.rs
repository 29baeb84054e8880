//! Tasks whose futures are in boxes and spans, some of which are dropped before they have returned.
//!
//! Prints one line of JSON, the ids of those that are dropped and of those that return, then "ready".
//! A line of stdin lets both happen.

#[path = "../subscriber.rs"]
mod subscriber;

use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::runtime::Builder;
use tokio::sync::oneshot::{channel, Receiver, Sender};
use tokio::task::JoinHandle;
use tracing::{info_span, Instrument};
use truth::say;

type Dyn = Pin<Box<dyn Future<Output = usize> + Send>>;

async fn work(text: String, gate: Receiver<()>) -> usize {
    let _ = gate.await;
    text.len()
}

/// One of each kind.
fn spawn(gates: &mut Vec<Sender<()>>) -> Vec<JoinHandle<usize>> {
    let mut next = || {
        let (sender, receiver) = channel();
        gates.push(sender);
        work("a text".to_string(), receiver)
    };
    let boxed: Dyn = Box::pin(next());
    let both: Dyn = Box::pin(next().instrument(info_span!("boxed")));
    vec![
        tokio::spawn(boxed),
        tokio::spawn(Box::pin(next())),
        tokio::spawn(next().instrument(info_span!("request", id = 1))),
        tokio::spawn(both),
        tokio::spawn(Box::pin(next()).instrument(info_span!("outer"))),
    ]
}

fn ids(tasks: &[JoinHandle<usize>]) -> Vec<u64> {
    tasks.iter().filter_map(truth::id).collect()
}

fn main() {
    subscriber::install();
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("no runtime");
    let _inside = runtime.enter();
    let (mut kept, mut gates) = (Vec::new(), Vec::new());
    let dropped = spawn(&mut kept);
    let returned = spawn(&mut gates);

    say(&format!("{{\"dropped\":{:?},\"returned\":{:?}}}\nready", ids(&dropped), ids(&returned)));
    io::stdin().read_line(&mut String::new()).expect("no line");
    for gate in gates {
        gate.send(()).expect("it is gone");
    }
    runtime.block_on(async {
        for task in returned {
            task.await.expect("it has failed");
        }
        for task in dropped {
            task.abort();
            task.await.expect_err("it has returned");
        }
    });
    say("done");
}
