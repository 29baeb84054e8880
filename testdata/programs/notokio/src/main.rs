//! Threads alone, no runtime.

use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use truth::Truth;

fn wait_on_condvar(pair: &(Mutex<bool>, Condvar)) {
    let mut open = pair.0.lock().unwrap();
    while !*open {
        open = pair.1.wait(open).unwrap();
    }
}

fn main() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    for _ in 0..2 {
        let pair = pair.clone();
        thread::spawn(move || wait_on_condvar(&pair));
    }
    let (sender, receiver) = mpsc::channel::<()>();
    thread::spawn(move || receiver.recv());
    Truth::new("notokio").publish();
    loop {
        thread::park();
        // Never reached; keeps the channel open.
        let _ = sender.send(());
    }
}
