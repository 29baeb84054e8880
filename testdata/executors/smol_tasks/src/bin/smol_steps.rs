//! Runs one scenario of asynchronous code on executors of smol, and says which of its lines it has
//! executed, as the program `stepping` does.
//!
//! smol_steps SCENARIO

#[allow(dead_code)]
#[path = "../../../../programs/stepping/src/record.rs"]
mod record;

use std::env;
use std::future::{poll_fn, Future};
use std::panic::catch_unwind;
use std::sync::mpsc::{channel, Sender};
use std::task::Poll;
use std::thread;

use smol::future::{or, yield_now, zip};
use smol::{block_on, unblock, Executor, LocalExecutor, Timer};
use truth::say;

use record::Me;

const ME: Me = Me(0);

static EXECUTOR: Executor<'static> = Executor::new();

/// Tasks run on four other threads meanwhile.
fn run<T>(future: impl Future<Output = T>) -> T {
    let (end, ended) = smol::channel::unbounded::<()>();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| block_on(EXECUTOR.run(ended.recv())));
        }
        let result = block_on(future);
        drop(end);
        result
    })
}

async fn value(_: Me, value: u32) -> u32 {
    value
}

async fn yields(_: Me, times: u32) -> u32 {
    for _ in 0..times {
        yield_now().await;
    }
    times
}

/// Never ends. It is known to be suspended when the other side has received a message.
async fn forever(_: Me, suspended: Option<Sender<()>>) {
    poll_fn(|_| {
        suspended.iter().for_each(|sender| sender.send(()).unwrap_or(()));
        Poll::<()>::Pending
    })
    .await
}

async fn root(me: Me) -> u32 {
    let a = yields(me.at(), 2).await;
    Timer::after(me.ms(2)).await;
    let b = value(me.at(), 1).await;
    unblock(me.pass(|| ())).await;
    me.add(a, b)
}

async fn arm(me: Me) -> u32 {
    let a = yields(me.at(), 1 + me.0).await;
    let b = yields(me.at(), 2).await;
    me.add(a, b)
}

async fn join(me: Me) -> u32 {
    let (a, b) = zip(arm(me.other(1)), arm(Me(2))).await;
    me.add(a, b)
}

async fn loser(me: Me, suspended: Option<Sender<()>>) -> u32 {
    let a = yields(me.at(), 1).await;
    forever(me.at(), suspended).await;
    me.add(a, 1)
}

async fn race(me: Me) -> u32 {
    let number = me.other(1);
    let a = or(loser(number, None), yields(me.at(), 6)).await;
    me.add(a, 0)
}

async fn refuse(me: Me) -> u32 {
    let a = yields(me.at(), 2).await;
    assert!(me.add(a, 1) == 0, "planned");
    me.add(a, 0)
}

/// A task that is cancelled while it is suspended.
async fn cancels(me: Me) {
    let (sender, suspended) = channel();
    let task = EXECUTOR.spawn(loser(me, Some(sender)));
    unblock(move || suspended.recv()).await.expect("it is not suspended");
    task.cancel().await;
}

/// Its executor ends while it is suspended.
fn ends(me: Me) {
    let executor = Executor::new();
    executor.spawn(loser(me, None)).detach();
    while executor.try_tick() {}
    drop(executor);
}

fn local(me: Me) {
    let executor = LocalExecutor::new();
    let task = executor.spawn(root(me));
    block_on(executor.run(task));
}

fn main() {
    let scenario = env::args().nth(1).expect("which scenario?");
    say("ready");
    match scenario.as_str() {
        "blocks" => drop(block_on(root(ME))),
        "cancels" => run(cancels(ME)),
        "ends" => ends(ME),
        "join" => drop(run(EXECUTOR.spawn(join(ME)))),
        "local" => local(ME),
        "panics" => drop(catch_unwind(|| run(EXECUTOR.spawn(refuse(ME))))),
        "race" => drop(run(EXECUTOR.spawn(race(ME)))),
        "root" => drop(run(EXECUTOR.spawn(root(ME)))),
        _ => panic!("no scenario \"{scenario}\""),
    }
    say(&record::tell(&scenario));
}
