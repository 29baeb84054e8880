//! What tokio's own API says about a runtime, as far as this version of tokio has it.

mod tasks;

use std::future::Future;
use std::pin::Pin;

use tokio::runtime::{Builder, Handle, Runtime};

pub use tasks::Tasks;

/// A wait that not every version of tokio has, and what it waits for.
pub type NewWait = (truth::Wait, Pin<Box<dyn Future<Output = ()> + Send>>);

/// What can be waited for since tokio 1.47.
#[cfg(feature = "new_waits")]
pub fn new_waits() -> Vec<NewWait> {
    use std::sync::Arc;

    use tokio::sync::{broadcast, Notify, SetOnce};
    use truth::Wait;

    let notify: &'static Arc<Notify> = Box::leak(Box::new(Arc::new(Notify::new())));
    let once: &'static SetOnce<u32> = Box::leak(Box::new(SetOnce::new()));
    let (sender, receiver) = broadcast::channel::<u32>(2);
    Box::leak(Box::new(receiver));
    vec![
        (
            Wait::new("notify").with("position", 1).with("object", Arc::as_ptr(notify)),
            Box::pin(notify.clone().notified_owned()),
        ),
        (
            Wait::new("set_once").with("value_set", false).with("object", once as *const _),
            Box::pin(async move {
                let _ = once.wait().await;
            }),
        ),
        (
            Wait::new("broadcast_closed").with("receivers", 1),
            Box::pin(async move { sender.closed().await }),
        ),
    ]
}

/// What can be waited for since tokio 1.47.
#[cfg(not(feature = "new_waits"))]
pub fn new_waits() -> Vec<NewWait> {
    Vec::new()
}

/// The truth about the runtime that drives the caller.
pub fn current(flavor: &'static str, workers: usize) -> truth::Runtime {
    describe(&Handle::current(), flavor, workers)
}

/// The truth about the runtime behind a handle.
pub fn describe(handle: &Handle, flavor: &'static str, workers: usize) -> truth::Runtime {
    truth::Runtime {
        kind: "tokio",
        flavor,
        workers: Some(workers),
        name: None,
        alive: alive(handle),
        queued: None,
    }
}

/// A runtime with this many workers and everything enabled.
pub fn multi_thread(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    builder.build().expect("cannot start a runtime")
}

/// Gives the runtime a name and returns that, or does nothing where tokio knows no names.
#[cfg(feature = "names")]
pub fn set_name(builder: &mut Builder, name: &str) -> Option<String> {
    builder.name(name);
    Some(name.to_string())
}

/// Gives the runtime a name and returns that, or does nothing where tokio knows no names.
#[cfg(not(feature = "names"))]
pub fn set_name(_builder: &mut Builder, _name: &str) -> Option<String> {
    None
}

#[cfg(feature = "metrics")]
fn alive(handle: &Handle) -> Option<Box<dyn Fn() -> usize + Send>> {
    let metrics = handle.metrics();
    Some(Box::new(move || metrics.num_alive_tasks()))
}

#[cfg(not(feature = "metrics"))]
fn alive(_handle: &Handle) -> Option<Box<dyn Fn() -> usize + Send>> {
    None
}

/// `tokio::task::coop::cooperative`, or nothing where tokio has no such.
#[cfg(feature = "coop")]
pub fn cooperative<F: Future>(future: F) -> impl Future<Output = F::Output> {
    tokio::task::coop::cooperative(future)
}

/// `tokio::task::coop::cooperative`, or nothing where tokio has no such.
#[cfg(not(feature = "coop"))]
pub fn cooperative<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future
}

/// Drives a future on a `LocalRuntime`; false where tokio has no such.
#[cfg(feature = "local")]
pub fn block_on_local<F: Future>(future: F) -> bool {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(Default::default());
    runtime.expect("cannot start a runtime").block_on(future);
    true
}

/// Drives a future on a `LocalRuntime`; false where tokio has no such.
#[cfg(not(feature = "local"))]
pub fn block_on_local<F: Future>(_future: F) -> bool {
    false
}
