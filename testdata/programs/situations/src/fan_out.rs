//! Work that is fanned out: arms of a join of which one has finished, and a crawl with few permits.

use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{oneshot, Semaphore};
use truth::tree::{at, done};
use truth::{here, leak, Task, Wait};

use crate::{keep, spawn};

async fn known() -> Result<u32, ()> {
    Ok(1)
}

async fn ask(reply: oneshot::Receiver<u32>) -> Result<u32, ()> {
    here!("situations::fan_out::ask");
    reply.await.map_err(|_| ())
}

async fn limited(permits: &'static Semaphore) -> Result<u32, ()> {
    here!("situations::fan_out::limited");
    let permit = permits.acquire_many(2).await.map_err(|_| ())?;
    Ok(permit.num_permits() as u32)
}

async fn gather(reply: oneshot::Receiver<u32>, permits: &'static Semaphore) {
    here!("situations::fan_out::gather");
    let _ = tokio::try_join!(known(), ask(reply), limited(permits));
}

async fn fetch(permits: Arc<Semaphore>) -> u32 {
    here!("situations::fan_out::fetch");
    let _permit = permits.acquire_owned().await;
    0
}

async fn crawl(permits: Arc<Semaphore>) {
    let mut pages: FuturesUnordered<_> = (0..3).map(|_| fetch(permits.clone())).collect();
    let mut sum = 0;
    loop {
        here!("situations::fan_out::crawl");
        match pages.next().await {
            Some(page) => sum += page,
            None => break,
        }
    }
    assert_eq!(sum, 0);
}

pub fn spawn_all() -> Vec<Task> {
    let (sender, reply) = oneshot::channel();
    leak(sender);
    let permits: &'static Semaphore = leak(Semaphore::new(1));
    let tree = at("situations::fan_out::gather")
        .join(0, done())
        .join(1, at("situations::fan_out::ask"))
        .join(2, at("situations::fan_out::limited"));
    let gathers = spawn(gather(reply, permits), tree)
        .beside(Wait::new("oneshot").with("sender_alive", true))
        .beside(Wait::new("semaphore").with("object", permits as *const Semaphore));

    let permits = Arc::new(Semaphore::new(2));
    let first = permits.clone().try_acquire_many_owned(2).expect("no permits");
    let object = Arc::as_ptr(&permits);
    let keeps = spawn(keep(first), at("situations::keep"));
    let tree = at("situations::fan_out::crawl").set(at("situations::fan_out::fetch").times(3));
    let crawls = spawn(crawl(permits), tree).beside(Wait::new("semaphore").with("object", object));
    vec![gathers, keeps, crawls]
}
