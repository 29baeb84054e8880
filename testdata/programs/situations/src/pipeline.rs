//! A pipeline that is full because its end waits for a lock, and a cache of which a writer waits for a
//! reader, and readers for the writer.

use std::sync::Arc;

use tokio::sync::{mpsc, Mutex, RwLock};
use truth::tree::at;
use truth::{here, Task, Wait};

use crate::{keep, passed, spawn};

async fn produce(sender: mpsc::Sender<u32>) {
    for number in 0..3 {
        let _ = sender.send(number).await;
    }
    here!("situations::pipeline::produce");
    let _ = sender.send(3).await;
}

async fn store(total: &Mutex<u32>, number: u32) {
    here!("situations::pipeline::store");
    *total.lock().await += number;
}

async fn consume(mut receiver: mpsc::Receiver<u32>, total: Arc<Mutex<u32>>) {
    while let Some(number) = receiver.recv().await {
        here!("situations::pipeline::consume");
        store(&total, number).await;
    }
}

async fn update(cache: Arc<RwLock<u32>>) {
    here!("situations::pipeline::update");
    *cache.write().await += 1;
}

async fn look_up(cache: Arc<RwLock<u32>>) {
    here!("situations::pipeline::look_up");
    let _ = *cache.read().await;
}

/// Of four numbers one is with the consumer, two are in the channel, and one is on its way.
pub async fn spawn_all() -> Vec<Task> {
    let total = Arc::new(Mutex::new(0));
    let locked = total.clone().lock_owned().await;
    let object = Arc::as_ptr(&total);
    let keeps_total = spawn(keep(locked), at("situations::keep"));
    let (sender, receiver) = mpsc::channel(2);
    let tree = at("situations::pipeline::consume").then(at("situations::pipeline::store"));
    let consumes = spawn(consume(receiver, total), tree)
        .beside(Wait::new("mutex").with("object", object).with("position", 1));
    let waits = Wait::new("mpsc_send").with("capacity", 2).with("queued", 2).with("position", 1);
    let produces = spawn(produce(sender), at("situations::pipeline::produce")).beside(waits);

    let cache = Arc::new(RwLock::new(0));
    let read = cache.clone().read_owned().await;
    let object = Arc::as_ptr(&cache);
    let keeps_cache = spawn(keep(read), at("situations::keep"));
    let updates = spawn(update(cache.clone()), at("situations::pipeline::update"))
        .beside(Wait::new("rwlock_write").with("object", object));
    passed("situations::pipeline::update", 1).await;
    let looks = spawn(look_up(cache), at("situations::pipeline::look_up"))
        .beside(Wait::new("rwlock_read").with("object", object));
    vec![keeps_total, consumes, produces, keeps_cache, updates, looks]
}
