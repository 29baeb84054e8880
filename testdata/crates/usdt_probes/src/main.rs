//! Fires static probes (USDT) of its own in two tasks and outside of any.
//!
//! Prints "ready". A line of stdin, whatever is in it, starts it: it fires its probes, prints what
//! that were, a line "truth KEY VALUE" for each number, then "done". The program ends with stdin; each
//! line does it again. `usdt_probes now` does it at once and ends.
//!
//! The provider is `shop`, its probes are
//!   order(number: u64, item: &str)                in the task of `buy`, and at the end once in none
//!   refund(cents: i32, number: u8, reason: &str)  in the task of `complain`
//!
//! Keys: fired.PROBE, in.PROBE.FUNCTION (of these in the task of that async fn), sum.PROBE.ARGUMENT (of
//! integers), text.PROBE.ARGUMENT (bytes of all strings), evaluated.PROBE (how often the semaphore
//! said that somebody listens, so that the arguments were computed).

use std::env;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};

use tokio::runtime::Builder;
use tokio::task::yield_now;
use truth::say;

#[usdt::provider]
mod shop {
    fn order(number: u64, item: &str) {}
    fn refund(cents: i32, number: u8, reason: &str) {}
}

const ORDERS: u64 = 100;
const REFUNDS: u8 = 60;
const ITEMS: [&str; 3] = ["a cup", "tea", "\u{fc}bergro\u{df}e Kanne"];

struct Count {
    fired: AtomicI64,
    evaluated: AtomicI64,
    text: AtomicI64,
}

static ORDER: Count = Count::new();
static REFUND: Count = Count::new();

impl Count {
    const fn new() -> Count {
        Count { fired: AtomicI64::new(0), evaluated: AtomicI64::new(0), text: AtomicI64::new(0) }
    }

    fn fire(&self, text: &str) {
        self.fired.fetch_add(1, Ordering::SeqCst);
        self.text.fetch_add(text.len() as i64, Ordering::SeqCst);
    }

    fn evaluate(&self) {
        self.evaluated.fetch_add(1, Ordering::SeqCst);
    }
}

fn tell(key: &str, value: i64) {
    say(&format!("truth {} {}", key, value));
}

fn item(number: u64) -> &'static str {
    ITEMS[number as usize % ITEMS.len()]
}

/// Alternates between small and large numbers.
fn order_number(number: u64) -> u64 {
    number + if number % 2 == 0 { 1 << 40 } else { 0 }
}

async fn buy() -> i64 {
    let mut sum = 0;
    for number in 0..ORDERS {
        shop::order!(|| {
            ORDER.evaluate();
            (order_number(number), item(number))
        });
        ORDER.fire(item(number));
        sum += order_number(number) as i64;
        yield_now().await;
    }
    sum
}

async fn complain() -> (i64, i64) {
    let mut sums = (0, 0);
    for number in 0..REFUNDS {
        let cents = -i32::from(number) * 1000;
        let reason = format!("order {} is broken", number);
        shop::refund!(|| {
            REFUND.evaluate();
            (cents, number, &reason)
        });
        REFUND.fire(&reason);
        sums = (sums.0 + i64::from(cents), sums.1 + i64::from(number));
        yield_now().await;
    }
    sums
}

fn buy_outside() -> i64 {
    shop::order!(|| {
        ORDER.evaluate();
        (7, ITEMS[0])
    });
    ORDER.fire(ITEMS[0]);
    7
}

fn run() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("no runtime");
    let (buyer, complainer) = (runtime.spawn(buy()), runtime.spawn(complain()));
    let orders = runtime.block_on(buyer).expect("a task failed") + buy_outside();
    let (cents, numbers) = runtime.block_on(complainer).expect("a task failed");

    drop(runtime);
    tell("fired.order", ORDER.fired.swap(0, Ordering::SeqCst));
    tell("in.order.usdt_probes::buy", ORDERS as i64);
    tell("sum.order.number", orders);
    tell("text.order.item", ORDER.text.swap(0, Ordering::SeqCst));
    tell("evaluated.order", ORDER.evaluated.swap(0, Ordering::SeqCst));
    tell("fired.refund", REFUND.fired.swap(0, Ordering::SeqCst));
    tell("in.refund.usdt_probes::complain", i64::from(REFUNDS));
    tell("sum.refund.cents", cents);
    tell("sum.refund.number", numbers);
    tell("text.refund.reason", REFUND.text.swap(0, Ordering::SeqCst));
    tell("evaluated.refund", REFUND.evaluated.swap(0, Ordering::SeqCst));
    say("done");
}

fn main() {
    usdt::register_probes().expect("no probes");
    say("ready");
    if env::args().nth(1).as_deref() == Some("now") {
        run();
        return;
    }
    for _ in io::stdin().lines().map_while(Result::ok) {
        run();
    }
}
