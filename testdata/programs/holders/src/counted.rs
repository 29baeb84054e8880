//! Objects that count who has them: where all that they count is known, nobody is named whose variable
//! still looks as if it had one.

use std::sync::Arc;

use tokio::sync::mpsc::{channel, Receiver, Sender};
use tokio::sync::Notify;
use tokio::time::sleep;
use truth::{here, Hold, Task, Wait, FOREVER};

use crate::Tasks;

struct Shared {
    notify: Notify,
}

async fn waits(shared: Arc<Shared>) {
    here!("holders::counted::waits");
    shared.notify.notified().await;
    shared.notify.notify_one();
}

async fn gave_up(shared: Arc<Shared>) {
    let mine = shared;
    let other = mine.clone();
    drop(mine);
    assert_eq!(Arc::strong_count(&other), 2);
    drop(other);
    here!("holders::counted::gave_up");
    sleep(FOREVER).await;
}

async fn receives(mut receiver: Receiver<u32>) {
    here!("holders::counted::receives");
    receiver.recv().await;
}

async fn sends(sender: Sender<u32>) {
    here!("holders::counted::sends");
    sleep(FOREVER).await;
    drop(sender);
}

async fn reserved(sender: Sender<u32>) {
    let permit = sender.reserve_owned().await.expect("it is closed");
    here!("holders::counted::reserved");
    sleep(FOREVER).await;
    drop(permit);
}

async fn hung_up(sender: Sender<u32>) {
    let mine = sender;
    assert_eq!(mine.max_capacity(), 4);
    drop(mine);
    here!("holders::counted::hung_up");
    sleep(FOREVER).await;
}

pub fn start(tasks: &mut Tasks) {
    let shared = Arc::new(Shared { notify: Notify::new() });
    let object = &shared.notify as *const Notify as usize;
    let id = truth::id(&tokio::spawn(waits(shared.clone())));
    let wait = Wait::new("notify").with("object", &shared.notify as *const Notify);
    tasks.tasks.push(Task::idle(id, &["holders::counted::waits"]).waits(wait));
    tasks.holds.push(Hold::new(id, "waker", "notify", object));
    tasks.sleeps(gave_up(shared), &["holders::counted::gave_up"]);

    let (sender, receiver) = channel(4);
    let id = tasks.sleeps(sends(sender.clone()), &["holders::counted::sends"]);
    tasks.holds.push(Hold::new(id, "sender", "mpsc", 0).path("sender"));
    let id = tasks.sleeps(reserved(sender.clone()), &["holders::counted::reserved"]);
    tasks.holds.push(Hold::new(id, "sender", "mpsc", 0));
    tasks.holds.push(Hold::new(id, "lock", "mpsc", 0));
    tasks.sleeps(hung_up(sender), &["holders::counted::hung_up"]);
    let id = truth::id(&tokio::spawn(receives(receiver)));
    let wait = Wait::new("mpsc_recv").with("senders", 2);
    tasks.tasks.push(Task::idle(id, &["holders::counted::receives"]).waits(wait));
    tasks.holds.push(Hold::new(id, "receiver", "mpsc", 0).path("receiver"));
}
