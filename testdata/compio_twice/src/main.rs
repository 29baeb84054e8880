//! Two versions of compio, each with a runtime on a thread of its own: their crates, types and thread-locals
//! have the same names.

use std::future::{pending, poll_fn};
use std::mem;
use std::task::Poll;
use std::thread;

use truth::{here, Truth};

/// A runtime that keeps no list of its tasks frees one to which no waker leads.
async fn kept() {
    poll_fn(|cx| {
        mem::forget(cx.waker().clone());
        Poll::Ready(())
    })
    .await;
}

async fn older(number: u32) {
    kept().await;
    here!("compio_twice::older");
    pending::<()>().await;
    std::hint::black_box(number);
}

async fn newer(number: u32) {
    kept().await;
    here!("compio_twice::newer");
    pending::<()>().await;
    std::hint::black_box(number);
}

fn run_older() {
    compio_old::runtime::Runtime::new().unwrap().block_on(async {
        for number in 0..3 {
            compio_old::runtime::spawn(older(number)).detach();
        }
        pending::<()>().await;
    });
}

fn run_newer() {
    compio_new::runtime::Runtime::new().unwrap().block_on(async {
        for number in 0..4 {
            compio_new::runtime::spawn(newer(number)).detach();
        }
        pending::<()>().await;
    });
}

fn main() {
    thread::Builder::new().name("older".to_string()).spawn(run_older).unwrap();
    thread::Builder::new().name("newer".to_string()).spawn(run_newer).unwrap();
    let truth = Truth::new("compio_twice");
    let truth = (0..3).fold(truth, |truth, _| truth.passes("compio_twice::older"));
    let truth = (0..4).fold(truth, |truth, _| truth.passes("compio_twice::newer"));
    truth.publish();
    loop {
        thread::park();
    }
}
