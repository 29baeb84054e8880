//! Threads that end in the middle of a line, and a program that stays.

use std::ffi::{c_int, c_long, c_void};
use std::future::Future;
use std::pin::pin;
use std::ptr::{null, null_mut};
use std::task::{Context, Waker};
use std::thread;

use crate::record::Me;
use crate::together::loser;
use crate::work::value;

extern "C-unwind" {
    fn pthread_create(
        thread: *mut usize,
        attributes: *const c_void,
        start: extern "C-unwind" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_exit(value: *mut c_void) -> !;
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
const EXIT: c_long = 60;
#[cfg(not(target_arch = "x86_64"))]
const EXIT: c_long = 93;

/// Until somebody ends the program.
fn stay() {
    loop {
        thread::park();
    }
}

/// A thread that ends in its second line, with all that pthread_exit() does.
pub fn thread_exits(_: Me) {
    let mut thread = 0;
    unsafe { pthread_create(&mut thread, null(), start_exiting, null_mut()) };
    stay();
}

extern "C-unwind" fn start_exiting(_: *mut c_void) -> *mut c_void {
    exiting(Me(0));
    null_mut()
}

#[inline(never)]
fn exiting(me: Me) -> u32 {
    let a = me.add(1, 2);
    let b = exit_thread(me.add(a, 3));
    me.add(a, b)
}

#[inline(never)]
fn exit_thread(_: u32) -> u32 {
    unsafe { pthread_exit(null_mut()) }
}

/// A thread that ends at once in the second line of what it polls.
pub fn poll_exits(me: Me) {
    thread::spawn(move || futures_executor::block_on(polled(me)));
    stay();
}

/// The same of the main thread.
pub fn main_exits(me: Me) {
    thread::spawn(stay);
    futures_executor::block_on(polled(me));
}

async fn polled(me: Me) -> u32 {
    let a = me.add(1, 2);
    let b = end_thread(me.add(a, 3));
    value(me.at(), b).await
}

#[inline(never)]
fn end_thread(status: u32) -> u32 {
    unsafe { syscall(EXIT, status) };
    status
}

/// A thread that ends while what it polls is suspended on its stack.
pub fn suspended_exits(me: Me) {
    thread::spawn(move || {
        let mut suspended = pin!(loser(me, None));
        let mut cx = Context::from_waker(Waker::noop());
        let mut polls = 0;
        while suspended.as_mut().poll(&mut cx).is_pending() {
            polls += 1;
            if polls == 2 {
                end_thread(0);
            }
        }
    });
    stay();
}
