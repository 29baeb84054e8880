//! Tasks that wait at the ends of flume's channels, in two versions of flume.

#[path = "../../tasks.rs"]
mod tasks;

mod new {
    use flume as krate;

    include!("ends.rs");
}

mod old {
    use flume_old as krate;

    include!("ends.rs");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = tasks::Tasks::default();
    new::spawn_all(&mut tasks);
    old::spawn_all(&mut tasks);
    truth::here!("flume_ends::main::{async_block#0}");
    tasks.publish("flume_ends").await;
}
