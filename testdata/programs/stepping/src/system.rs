//! Lines in the middle of which processes, threads and signals come and go.

use std::ffi::{c_int, c_long};
use std::hint;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::record::Me;
use crate::work::yields;

extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
    fn raise(number: c_int) -> c_int;
    fn setitimer(which: c_int, new: *const [c_long; 4], old: *mut [c_long; 4]) -> c_int;
}

const ITIMER_REAL: c_int = 0;
const SIGUSR1: c_int = 10;
const SIGALRM: c_int = 14;

static SIGNALS: AtomicU32 = AtomicU32::new(0);

/// Until the other program is executed, the new process uses the memory of this one.
pub async fn executes(me: Me) -> u32 {
    let a = execute(me.at(), "true");
    let b = yields(me.at(), 1).await;
    let c = execute(me.at(), "false");
    me.add(a + b, c)
}

#[inline(never)]
fn execute(_: Me, program: &str) -> u32 {
    Command::new(program).status().is_ok_and(|status| status.success()) as u32
}

/// The new process has the same code, and executes the rest of the function, too.
pub fn forks(me: Me) -> u32 {
    let a = me.add(1, 2);
    let child = begin(me.at());
    let b = me.add(a, 3);
    let end = end(me.at(), child);
    me.add(b, end)
}

#[inline(never)]
fn begin(_: Me) -> c_int {
    unsafe { fork() }
}

/// How the new process has ended; here that process ends.
#[inline(never)]
fn end(_: Me, child: c_int) -> u32 {
    let mut status = 0;

    unsafe {
        if child == 0 {
            _exit(0);
        }
        assert!(waitpid(child, &mut status, 0) == child);
    }
    assert!(status == 0, "it has ended with status {status:#x}");
    1
}

/// Threads that end while a line is executed, and some time later.
pub async fn threads(me: Me) -> u32 {
    let a = run(me.at(), 10, true);
    let b = run(me.at(), 20, false);
    let c = yields(me.at(), 3).await;
    let d = run(me.at(), 10, true);
    me.add(a + b, c + d)
}

#[inline(never)]
fn run(_: Me, times: u32, wait: bool) -> u32 {
    for n in 0..times {
        let thread = thread::spawn(move || hint::black_box(n));
        if wait {
            let _ = thread.join();
        }
    }
    times
}

/// Each line is executed with a signal in its middle.
pub async fn signals(me: Me) -> u32 {
    let a = send(me.at());
    let b = yields(me.at(), 2).await;
    let c = send(me.at());
    me.add(a + b, c)
}

extern "C" fn count(_: c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

#[inline(never)]
fn send(_: Me) -> u32 {
    unsafe {
        signal(SIGUSR1, count);
        raise(SIGUSR1);
    }
    SIGNALS.load(Ordering::Relaxed)
}

/// Signals that come to any thread at any time.
pub async fn alarms(me: Me) -> u32 {
    every(me.at(), 500);
    let a = await_signals(me.at(), 2);
    let b = yields(me.at(), 3).await;
    let c = await_signals(me.at(), 2);
    let d = me.add(a, b);
    every(me.at(), 0);
    me.add(c, d)
}

/// SIGALRM each so many microseconds; 0: no more.
#[inline(never)]
fn every(_: Me, us: c_long) {
    unsafe {
        signal(SIGALRM, count);
        assert!(setitimer(ITIMER_REAL, &[0, us, 0, us], std::ptr::null_mut()) == 0);
    }
}

/// Until so many more have come.
#[inline(never)]
fn await_signals(_: Me, more: u32) -> u32 {
    let end = SIGNALS.load(Ordering::Relaxed) + more;

    while SIGNALS.load(Ordering::Relaxed) < end {
        hint::spin_loop();
    }
    more
}
