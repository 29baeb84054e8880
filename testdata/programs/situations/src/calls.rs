//! One call in another: generic ones, recursion, time-outs around time-outs.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use truth::tree::at;
use truth::{here, leak, Task, Wait, FOREVER};

use crate::spawn;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Polls what a closure makes, until it succeeds.
async fn retry<F: Future<Output = Result<u32, ()>>>(mut make: impl FnMut() -> F) -> u32 {
    loop {
        here!("situations::calls::retry");
        if let Ok(number) = make().await {
            return number;
        }
    }
}

async fn attempt(reply: &mut oneshot::Receiver<u32>) -> Result<u32, ()> {
    here!("situations::calls::attempt");
    reply.await.map_err(|_| ())
}

async fn guarded(reply: oneshot::Receiver<u32>) -> Result<u32, ()> {
    let mut reply = reply;
    here!("situations::calls::guarded");
    timeout(FOREVER, attempt(&mut reply)).await.map_err(|_| ())?
}

async fn request(reply: oneshot::Receiver<u32>) {
    let mut reply = Some(reply);
    here!("situations::calls::request");
    let _ = timeout(FOREVER * 2, retry(|| guarded(reply.take().expect("asked twice")))).await;
}

/// Walks down, one box in another.
fn descend(depth: u32, reply: oneshot::Receiver<u32>) -> Boxed<u32> {
    Box::pin(async move {
        if depth == 0 {
            here!("situations::calls::descend::{async_block#0} bottom");
            return reply.await.unwrap_or(0);
        }
        let text = format!("level {depth}");
        here!("situations::calls::descend::{async_block#0} level");
        let number = descend(depth - 1, reply).await;
        number + text.len() as u32
    })
}

async fn walk(reply: oneshot::Receiver<u32>) {
    here!("situations::calls::walk");
    descend(3, reply).await;
}

/// A future of an older time: what it polls is chosen by a trait object.
trait Step: Send + Sync {
    fn take(&self) -> Boxed<()>;
}

struct Last;
struct First(&'static dyn Step);

async fn rest() {
    here!("situations::calls::rest");
    tokio::time::sleep(FOREVER).await;
}

impl Step for Last {
    fn take(&self) -> Boxed<()> {
        Box::pin(rest())
    }
}

async fn first(next: &'static dyn Step) {
    tokio::time::sleep(Duration::from_millis(1)).await;
    here!("situations::calls::first");
    next.take().await
}

impl Step for First {
    fn take(&self) -> Boxed<()> {
        Box::pin(first(self.0))
    }
}

async fn run_steps(step: &'static dyn Step) {
    here!("situations::calls::run_steps");
    step.take().await
}

fn waits_for_reply() -> Wait {
    Wait::new("oneshot").with("sender_alive", true).with("value_there", false)
}

pub fn spawn_all() -> Vec<Task> {
    let (sender, reply) = oneshot::channel();
    leak(sender);
    let guarded = at("situations::calls::guarded").then(at("situations::calls::attempt"));
    let tree = at("situations::calls::request").then(at("situations::calls::retry").then(guarded));
    let requests = spawn(request(reply), tree).beside(waits_for_reply());

    let (sender, reply) = oneshot::channel();
    leak(sender);
    let mut tree = at("situations::calls::descend::{async_block#0} bottom");
    for _ in 0..3 {
        tree = at("situations::calls::descend::{async_block#0} level").then(tree);
    }
    let walks =
        spawn(walk(reply), at("situations::calls::walk").then(tree)).beside(waits_for_reply());

    let steps: &'static dyn Step = leak(First(leak(Last)));
    let tree = at("situations::calls::first").then(at("situations::calls::rest"));
    let steps = spawn(run_steps(steps), at("situations::calls::run_steps").then(tree));
    vec![requests, walks, steps]
}
