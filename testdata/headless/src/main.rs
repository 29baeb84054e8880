//! A bevy app without a window: MinimalPlugins and their three pools of tasks. Its systems have run
//! some frames; then one of them waits for good, so that nothing moves any more.

use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;
use std::thread;

use async_channel::Receiver;
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, IoTaskPool, Task};
use truth::{here, leak, Truth};

static FRAMES: AtomicU32 = AtomicU32::new(0);
static TAKEN: Mutex<()> = Mutex::new(());

/// What a system asks for the result of a task in each frame, as games do.
#[derive(Component)]
struct Loading(#[allow(dead_code)] Task<u32>);

async fn loads(receiver: Receiver<u32>) -> u32 {
    here!("headless::loads");
    receiver.recv().await.unwrap_or(0)
}

async fn computes() -> u32 {
    here!("headless::computes");
    pending().await
}

async fn joins(other: Task<u32>) {
    here!("headless::joins");
    other.await;
}

async fn blocks() {
    here!("headless::blocks");
    drop(TAKEN.lock());
}

fn start(mut commands: Commands) {
    let (sender, receiver) = async_channel::bounded(1);
    leak(sender);
    commands.spawn(Loading(IoTaskPool::get().spawn(loads(receiver))));
    let computed = AsyncComputeTaskPool::get().spawn(computes());
    AsyncComputeTaskPool::get().spawn(joins(computed)).detach();
    IoTaskPool::get().spawn(blocks()).detach();
}

fn moves(mut query: Query<&mut Transform>) {
    query.par_iter_mut().for_each(|mut transform| transform.translation.x += 1.0);
}

fn counts(time: Res<Time>) {
    if FRAMES.fetch_add(1, Ordering::SeqCst) == 10 && time.elapsed_secs() >= 0.0 {
        here!("headless::counts");
        drop(TAKEN.lock());
    }
}

fn main() {
    leak(TAKEN.lock());
    thread::Builder::new().name("app".to_string()).spawn(run).unwrap();
    Truth::new("headless")
        .passes("headless::loads")
        .passes("headless::computes")
        .passes("headless::joins")
        .passes("headless::blocks")
        .passes("headless::counts")
        .publish();
    loop {
        thread::park();
    }
}

fn run() {
    App::new()
        .add_plugins(MinimalPlugins)
        .add_systems(Startup, start)
        .add_systems(Update, (moves, counts))
        .run();
}
