//! Tasks that move only when they are told to.
//!
//! Prints one line of JSON, what there is, then "ready". Each line of stdin is an order: "walk N"
//! (the walker of that number goes to its next await), "end N" (it ends), "spawn" (another one is
//! there), "alarm" (a timer is set anew). When all is at rest again it prints "done", of a walk with
//! the line that the walker waits at, of a spawn with the id of the task. It has no truth about all of itself to tell, and ends with stdin.

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::time::{sleep_until, Instant};
use truth::{quiet, say, FOREVER};

const WALKERS: usize = 5;
const SECRET: &str = "a value that nobody else may see";

/// Where the walker that moved last waits.
static LINE: AtomicU32 = AtomicU32::new(0);
static STEPS: AtomicUsize = AtomicUsize::new(0);

fn stepped() {
    STEPS.fetch_add(1, Ordering::SeqCst);
}

async fn walk(mut orders: UnboundedReceiver<()>, message: String) -> usize {
    loop {
        LINE.store(line!() + 1, Ordering::SeqCst);
        let first = orders.recv().await;
        stepped();
        if first.is_none() {
            return message.len();
        }
        LINE.store(line!() + 1, Ordering::SeqCst);
        let second = orders.recv().await;
        stepped();
        if second.is_none() {
            return message.len();
        }
    }
}

async fn alarm(mut orders: UnboundedReceiver<()>) {
    let mut end = Instant::now() + FOREVER;
    loop {
        tokio::select! {
            _ = sleep_until(end) => {}
            _ = orders.recv() => end += Duration::from_secs(3600),
        }
        stepped();
    }
}

async fn stay(mut orders: UnboundedReceiver<()>) {
    orders.recv().await;
}

struct Walkers {
    runtime: Runtime,
    orders: Vec<Option<UnboundedSender<()>>>,
}

impl Walkers {
    fn spawn(&mut self) -> Option<u64> {
        let (sender, receiver) = unbounded_channel();
        self.orders.push(Some(sender));
        truth::id(&self.runtime.spawn(walk(receiver, SECRET.to_string())))
    }
}

/// Until so many steps were taken and every other thread sleeps.
fn rest(steps: usize) {
    while STEPS.load(Ordering::SeqCst) < steps || quiet::check(&[]).is_err() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn main() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("no runtime");
    let (alarm_orders, receiver) = unbounded_channel();
    let alarm = truth::id(&runtime.spawn(alarm(receiver)));
    let (_kept, receiver) = unbounded_channel();
    let stay = truth::id(&runtime.spawn(stay(receiver)));
    let mut walkers = Walkers { runtime, orders: Vec::new() };
    let ids: Vec<u64> = (0..WALKERS).filter_map(|_| walkers.spawn()).collect();
    let mut steps = 0;

    while LINE.load(Ordering::SeqCst) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    rest(steps);
    say(&format!(
        "{{\"walkers\":{:?},\"alarm\":{},\"stay\":{},\"line\":{},\"secret\":{:?}}}\nready",
        ids,
        alarm.unwrap_or(0),
        stay.unwrap_or(0),
        LINE.load(Ordering::SeqCst),
        SECRET,
    ));
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let number = || line.split(' ').nth(1)?.parse::<usize>().ok();
        let mut answer = "done".to_string();
        match line.split(' ').next() {
            Some("walk") => {
                let order = number().and_then(|n| walkers.orders[n].as_ref());
                order.expect("no such walker").send(()).expect("it is gone");
                steps += 1;
            }
            Some("end") => {
                walkers.orders[number().expect("which one?")] = None;
                steps += 1;
            }
            Some("spawn") => answer = format!("done {}", walkers.spawn().unwrap_or(0)),
            Some("alarm") => {
                alarm_orders.send(()).expect("it is gone");
                steps += 1;
            }
            _ => panic!("what is \"{}\"?", line),
        }
        rest(steps);
        if line.starts_with("walk") {
            answer = format!("done {}", LINE.load(Ordering::SeqCst));
        }
        say(&answer);
    }
    walkers.runtime.shutdown_background();
}
