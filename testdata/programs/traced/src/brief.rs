//! Runtimes whose workers end before anybody can look at them.

use crate::count::{counted, polls};
use crate::tasks::{spawn, start};

async fn short() {
    counted("traced::brief::short", async {}).await
}

/// Builds that many runtimes, one after the other; each runs a task and is dropped.
pub fn brief(runtimes: u64) {
    for _ in 0..runtimes {
        let runtime = start("brief", 2);
        let task = spawn(runtime.handle(), short());

        runtime.block_on(task).expect("a task failed");
    }
    assert_eq!(polls("traced::brief::short"), runtimes);
}
