//! Tasks that wait at the ends of async-channel's channels, in two versions of the crate.

#[path = "../../tasks.rs"]
mod tasks;

mod new {
    use async_channel as krate;

    include!("ends.rs");

    const CLOSED: &str = concat!(module_path!(), "::closed");

    async fn closed(sender: Sender<u32>) {
        here!(CLOSED);
        sender.closed().await;
    }

    /// What the older version has not.
    pub fn spawn_closed(tasks: &mut Tasks) {
        let (sender, receiver) = krate::bounded(3);
        sender.try_send(1).expect("it is full already");
        let one = tasks.sleeps(hold_receiver(receiver), &[HOLD_RECEIVER], &[RECEIVER]);
        let wait = Wait::new("channel_closed").with("closed", false).with("queued", 1);
        let who = tasks.waits(closed(sender), CLOSED, wait.with("receivers", 1), &[SENDER]);
        tasks.graph.waits(who, "channel_closed", None, &[one]);
    }
}

mod old {
    use async_channel_old as krate;

    include!("ends.rs");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = tasks::Tasks::default();
    new::spawn_all(&mut tasks);
    new::spawn_closed(&mut tasks);
    old::spawn_all(&mut tasks);
    truth::here!("channel_ends::main::{async_block#0}");
    tasks.publish("channel_ends").await;
}
