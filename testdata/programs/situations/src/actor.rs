//! An actor: a loop of select! over its mailbox, a deadline that it keeps, and an arm that is off.

use tokio::sync::{mpsc, watch, Notify};
use tokio::time::sleep;
use truth::tree::{at, fresh, library};
use truth::{here, leak, Task, Wait, FOREVER};

use crate::spawn;

async fn deadline() {
    here!("situations::actor::deadline");
    sleep(FOREVER).await;
}

async fn flush(urgent: &Notify) {
    here!("situations::actor::flush");
    urgent.notified().await;
}

async fn run(
    mut mailbox: mpsc::Receiver<u32>,
    urgent: &'static Notify,
    mut stop: watch::Receiver<bool>,
) {
    let mut deadline = Box::pin(deadline());
    let mut received = 0;
    let mut batch = Vec::new();
    loop {
        here!("situations::actor::run");
        tokio::select! {
            message = mailbox.recv() => match message {
                Some(number) => {
                    received += 1;
                    batch.push(number);
                }
                None => break,
            },
            () = &mut deadline => break,
            () = flush(urgent), if !batch.is_empty() => batch.clear(),
            changed = stop.changed(), if received > 100 => drop(changed),
        }
    }
}

pub fn spawn_all() -> Vec<Task> {
    let (sender, mailbox) = mpsc::channel(4);
    let (stops, stop) = watch::channel(false);
    let urgent = leak(Notify::new());
    leak(stops);
    let tree = at("situations::actor::run")
        .select(0, library())
        .select(1, at("situations::actor::deadline"))
        .select(2, fresh("situations::actor::flush").disabled())
        .select(3, library().disabled());
    let waits = Wait::new("mpsc_recv").with("queued", 0).with("senders", 1).with("capacity", 4);
    let task = spawn(run(mailbox, urgent, stop), tree).beside(waits);
    leak(sender);
    vec![task]
}
