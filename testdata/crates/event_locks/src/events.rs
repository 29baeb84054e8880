// The listeners of one version of the crate. `krate` is that version.

use truth::{here, Wait};

use self::krate::Event;
use crate::tasks::Tasks;

const LISTEN: &str = concat!(module_path!(), "::listen");

async fn listen(event: &'static Event) {
    let listener = event.listen();
    here!(LISTEN);
    listener.await;
}

/// Two tasks in their order.
pub async fn spawn_all(tasks: &mut Tasks) {
    let event = truth::leak(Event::new());
    for position in 1..3 {
        let wait = Wait::new("notify").with("position", position).with("notified", false);
        let before = truth::visits(LISTEN);
        tasks.waits(listen(event), LISTEN, wait, &[]);
        while truth::visits(LISTEN) == before {
            tokio::task::yield_now().await;
        }
    }
}
