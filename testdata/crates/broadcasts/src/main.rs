//! Tasks that wait at the ends of async-broadcast's channels, in two versions of the crate, and for
//! the next value of a `WatchStream`.

#[path = "../../tasks.rs"]
mod tasks;

mod new {
    use async_broadcast as krate;

    include!("ends.rs");
}

mod old {
    use async_broadcast_old as krate;

    include!("ends.rs");
}

mod watch {
    use futures_util::StreamExt;
    use tokio::sync::watch::{self, Sender};
    use tokio::time::sleep;
    use tokio_stream::wrappers::WatchStream;
    use truth::{here, Wait, FOREVER};

    use crate::tasks::{Held, Tasks};

    const SENDER: Held = ("sender", "watch", "sender");

    async fn keep(sender: Sender<u32>) {
        here!("broadcasts::watch::keep");
        sleep(FOREVER).await;
        drop(sender);
    }

    async fn next(mut changes: WatchStream<u32>) {
        here!("broadcasts::watch::next");
        changes.next().await;
    }

    pub fn spawn(tasks: &mut Tasks) {
        let (sender, receiver) = watch::channel(1);
        let one = tasks.sleeps(keep(sender), &["broadcasts::watch::keep"], &[SENDER]);
        let wait = Wait::new("watch").with("closed", false).with("receivers", 1);
        let changes = WatchStream::from_changes(receiver);
        let who = tasks.waits(next(changes), "broadcasts::watch::next", wait, &[RECEIVER]);
        tasks.graph.waits(who, "watch", None, &[one]);
    }

    const RECEIVER: Held = ("receiver", "watch", "");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = tasks::Tasks::default();
    new::spawn_all(&mut tasks);
    old::spawn_all(&mut tasks);
    watch::spawn(&mut tasks);
    truth::here!("broadcasts::main::{async_block#0}");
    tasks.publish("broadcasts").await;
}
