//! Tasks of async-task whose metadata say where they were spawned, as in gpui: an executor of the
//! program's own, with a queue for two threads in the background and one for the thread "main".

use std::future::{poll_fn, Future};
use std::panic::Location;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Instant;

use async_task::{Builder, Runnable, Task};
use truth::{here, leak, say, Truth};

/// As the crate scheduler of gpui has it.
struct Meta {
    #[allow(dead_code)]
    location: &'static Location<'static>,
    _spawned: Instant,
}

/// Of tasks that know nothing but where.
type Short = &'static Location<'static>;

#[derive(Clone)]
struct Executor {
    background: Sender<Runnable<Meta>>,
    foreground: Sender<Runnable<Short>>,
    plain: Sender<Runnable<u128>>,
}

static WAKERS: Mutex<Vec<Waker>> = Mutex::new(Vec::new());
static TAKEN: Mutex<()> = Mutex::new(());
static SPAWNED: Mutex<Vec<(String, String, u32)>> = Mutex::new(Vec::new());

fn note(name: &str, at: &Location) {
    SPAWNED.lock().unwrap().push((name.to_string(), at.file().to_string(), at.line()));
}

impl Executor {
    #[track_caller]
    fn spawn<F>(&self, name: &str, future: F) -> Task<F::Output, Meta>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let location = Location::caller();
        note(name, location);
        let queue = self.background.clone();
        let (runnable, task) = Builder::new()
            .metadata(Meta { location, _spawned: Instant::now() })
            .spawn(move |_| future, move |runnable| drop(queue.send(runnable)));
        runnable.schedule();
        task
    }

    /// Polled on this thread only.
    #[track_caller]
    fn spawn_local<F>(&self, name: &str, future: F) -> Task<F::Output, Short>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        note(name, Location::caller());
        let queue = self.foreground.clone();
        let (runnable, task) = Builder::new()
            .metadata(Location::caller())
            .spawn_local(move |_| future, move |runnable| drop(queue.send(runnable)));
        runnable.schedule();
        task
    }

    /// Of metadata that are no place.
    fn spawn_plain<F>(&self, future: F) -> Task<F::Output, u128>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let queue = self.plain.clone();
        let (runnable, task) = Builder::new()
            .metadata(7u128)
            .spawn(move |_| future, move |runnable| drop(queue.send(runnable)));
        runnable.schedule();
        task
    }
}

/// Nobody wakes it, but its waker is kept.
async fn asleep() {
    poll_fn(|cx| {
        WAKERS.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
    .await
}

async fn loads() -> u32 {
    here!("located::loads");
    asleep().await;
    1
}

async fn shows(loaded: Task<u32, Meta>) {
    here!("located::shows");
    loaded.await;
}

async fn saves() {
    here!("located::saves");
    asleep().await;
}

async fn plain() {
    here!("located::plain");
    asleep().await;
}

async fn blocks() {
    here!("located::blocks");
    drop(TAKEN.lock());
}

fn start(name: &str, body: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.to_string()).spawn(body).unwrap();
}

fn run<M: Send + Sync + 'static>(name: &str, queue: Receiver<Runnable<M>>, threads: usize) {
    let queue = Arc::new(Mutex::new(queue));
    for _ in 0..threads {
        let queue = queue.clone();
        let next = move || queue.lock().unwrap().recv().ok();
        let runs = move || {
            while let Some(runnable) = next() {
                runnable.run();
            }
        };
        start(name, runs);
    }
}

fn main() {
    leak(TAKEN.lock());
    let (background, queue) = channel();
    run("background", queue, 2);
    let (foreground, local) = channel();
    let (plain_queue, queue) = channel();
    run("plain", queue, 1);
    let executor = Executor { background, foreground, plain: plain_queue };
    let loaded = executor.spawn("located::loads", loads());
    let own = executor.clone();
    start("foreground", move || {
        own.spawn_local("located::shows", shows(loaded)).detach();
        for runnable in local {
            let _: Runnable<Short> = runnable;
            runnable.run();
        }
    });
    executor.spawn("located::main::{async_block#1}", async { saves().await }).detach();
    executor.spawn_plain(plain()).detach();
    executor.spawn("located::blocks", blocks()).detach();
    while truth::visits("located::shows") == 0 {
        thread::yield_now();
    }
    for (name, file, line) in SPAWNED.lock().unwrap().iter() {
        say(&format!("spawned {name} {file}:{line}"));
    }
    Truth::new("located")
        .passes("located::loads")
        .passes("located::shows")
        .passes("located::saves")
        .passes("located::plain")
        .passes("located::blocks")
        .publish();
    loop {
        thread::park();
    }
}
