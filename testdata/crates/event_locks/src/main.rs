//! Tasks that wait for locks of async-lock and for events of event-listener, in several versions of
//! each.

#[path = "../../tasks.rs"]
mod tasks;

/// Listeners of an event.
macro_rules! events {
    ($module:ident, $krate:ident) => {
        mod $module {
            use $krate as krate;

            include!("events.rs");
        }
    };
}

events!(event_2, event_listener_2);
events!(event_3, event_listener_3);
events!(event_4, event_listener_4);
events!(event_5, event_listener);

mod stack {
    use event_listener::{listener, Event};
    use truth::{here, Wait};

    use crate::tasks::Tasks;

    async fn listen(event: &'static Event) {
        listener!(event => mine);
        here!("event_locks::stack::listen");
        mine.await;
    }

    pub fn spawn(tasks: &mut Tasks) {
        let event = truth::leak(Event::new());
        let wait = Wait::new("notify").with("position", 1).with("notified", false);
        tasks.waits(listen(event), "event_locks::stack::listen", wait, &[]);
    }
}

mod new {
    use async_lock as krate;

    include!("locks.rs");
}

mod old {
    use async_lock_old as krate;

    include!("locks.rs");
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = tasks::Tasks::default();
    event_2::spawn_all(&mut tasks).await;
    event_3::spawn_all(&mut tasks).await;
    event_4::spawn_all(&mut tasks).await;
    event_5::spawn_all(&mut tasks).await;
    stack::spawn(&mut tasks);
    new::spawn_all(&mut tasks).await;
    old::spawn_all(&mut tasks).await;
    truth::here!("event_locks::main::{async_block#0}");
    tasks.publish("event_locks").await;
}
