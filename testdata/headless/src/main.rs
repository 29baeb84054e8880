//! A bevy app without a window: MinimalPlugins and their three pools of tasks. Its systems have run
//! some frames; then one of them waits for good, so that nothing moves any more.
//!
//! With `hurry` as argument frames follow each other as fast as they can, and each sends to tasks that
//! wait, and spawns others that end soon. It prints `ready`, and when stdin ends how many of these have
//! ended.

use std::future::pending;
use std::io::{self, Read as _};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use async_channel::{Receiver, Sender};
use bevy::prelude::*;
use bevy::tasks::futures_lite::future::yield_now;
use bevy::tasks::{AsyncComputeTaskPool, ComputeTaskPool, IoTaskPool, Task};
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

/// Tasks of each pool that wait for each frame.
const WAITING: usize = 40;
static ENDED: AtomicU32 = AtomicU32::new(0);

#[derive(Resource)]
struct Frames(Sender<u32>);

async fn follows(frames: Receiver<u32>) -> u32 {
    let mut sum = 0u32;
    while let Ok(frame) = frames.recv().await {
        sum = sum.wrapping_add(frame);
    }
    sum
}

async fn ends() {
    for _ in 0..3 {
        yield_now().await;
    }
    ENDED.fetch_add(1, Ordering::SeqCst);
}

fn start_many(mut commands: Commands) {
    let (sender, receiver) = async_channel::bounded(WAITING);
    for _ in 0..WAITING {
        IoTaskPool::get().spawn(follows(receiver.clone())).detach();
        AsyncComputeTaskPool::get().spawn(follows(receiver.clone())).detach();
        ComputeTaskPool::get().spawn(follows(receiver.clone())).detach();
    }
    commands.insert_resource(Frames(sender));
    commands.spawn_batch((0..4000).map(|_| Transform::default()));
}

fn sends(frames: Res<Frames>) {
    let frame = FRAMES.fetch_add(1, Ordering::SeqCst);
    let _ = frames.0.try_send(frame);
    IoTaskPool::get().spawn(ends()).detach();
    AsyncComputeTaskPool::get().spawn(ends()).detach();
}

fn hurry() -> ! {
    thread::Builder::new().name("app".to_string()).spawn(run_on).unwrap();
    while ENDED.load(Ordering::SeqCst) < 100 {
        thread::sleep(Duration::from_millis(1));
    }
    println!("ready");
    let _ = io::stdin().read_to_end(&mut Vec::new());
    println!("{}", ENDED.load(Ordering::SeqCst));
    process::exit(0)
}

fn run_on() {
    App::new()
        .add_plugins(MinimalPlugins)
        .add_systems(Startup, start_many)
        .add_systems(Update, (moves, sends))
        .run();
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("hurry") {
        hurry();
    }
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
