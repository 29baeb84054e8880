//! Runs one scenario of asynchronous code on a runtime of compio, and says which of its lines it has
//! executed, as the program `stepping` does.
//!
//! compio_steps SCENARIO

#[allow(dead_code)]
#[path = "../../../../programs/stepping/src/record.rs"]
mod record;

use std::env;
use std::future::{poll_fn, Future};
use std::sync::mpsc::{channel, Sender};
use std::task::Poll;

use compio::runtime::{spawn, Runtime};
use compio::time::sleep;
use futures_lite::future::{or, yield_now, zip};
use truth::say;

use record::Me;

const ME: Me = Me(0);

fn run<T>(future: impl Future<Output = T>) -> T {
    Runtime::new().expect("no runtime").block_on(future)
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
    sleep(me.ms(2)).await;
    let b = value(me.at(), 1).await;
    sleep(me.ms(1)).await;
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

/// A task that is cancelled while it is suspended.
async fn cancels(me: Me) {
    let (sender, suspended) = channel();
    let task = spawn(loser(me, Some(sender)));
    while suspended.try_recv().is_err() {
        yield_now().await;
    }
    task.cancel().await;
}

/// Its runtime ends while it is suspended.
fn ends(me: Me) {
    let (sender, suspended) = channel();
    run(async {
        spawn(loser(me, Some(sender))).detach();
        while suspended.try_recv().is_err() {
            yield_now().await;
        }
    });
}

fn main() {
    let scenario = env::args().nth(1).expect("which scenario?");
    say("ready");
    match scenario.as_str() {
        "blocks" => drop(run(root(ME))),
        "cancels" => run(cancels(ME)),
        "ends" => ends(ME),
        "join" => drop(run(async { spawn(join(ME)).await })),
        "race" => drop(run(async { spawn(race(ME)).await })),
        "root" => drop(run(async { spawn(root(ME)).await })),
        _ => panic!("no scenario \"{scenario}\""),
    }
    say(&record::tell(&scenario));
}
