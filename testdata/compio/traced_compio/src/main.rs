//! Runs tasks of compio, and counts for itself what a tracer should count.
//!
//! Prints "ready". Each line of stdin names a section, as in `traced` (programs/traced), whose keys
//! are used here too. All of a section is over at "done".
//!
//! counts               tasks that yield, sleep, spawn, panic (where panics unwind), are cancelled
//! threads              tasks of two runtimes on two threads that wake each other
//! pingpong [ROUNDS]    two tasks of one thread that wake each other
//! reuse [TASKS]        tasks that follow each other, at the same addresses
//! dropped              a runtime that is dropped with tasks that wait, and such as were never polled
//! places [TASKS]       tasks that are spawned in several ways, without a function that does it for them
//! alikes               tasks of two types whose code is the same
//! stall                a task that sleeps in its poll for 30 ms
//! flat [SECONDS]       a task that yields as fast as it can
//! burn [SECONDS]       a task that computes, and one that only waits
//!
//! Keys beside those of `traced`: at.NAME (the address of a task's header), alikes (polls of both),
//! unpolled (tasks that have ended, but not by a poll).

#[path = "../../../programs/traced/src/count.rs"]
#[allow(dead_code)]
mod count;
mod tasks;

use std::io;

use truth::say;

fn run(section: &str) {
    let mut words = section.split_whitespace();
    let name = words.next().unwrap_or("");
    let number = words.next().map(|word| word.parse::<u64>().expect("not a number"));

    match name {
        "counts" => tasks::counts(),
        "threads" => tasks::threads(100),
        "pingpong" => tasks::pingpong(number.unwrap_or(1000)),
        "reuse" => tasks::reuse(number.unwrap_or(200)),
        "dropped" => tasks::dropped(),
        "places" => tasks::places(number.unwrap_or(3)),
        "alikes" => tasks::alikes(),
        "stall" => tasks::stall(),
        "flat" => tasks::flat(number.unwrap_or(3)),
        "burn" => tasks::burn(number.unwrap_or(3)),
        _ => panic!("no section \"{}\"", section),
    }
    count::tell();
    say("done");
}

fn main() {
    say("ready");
    for line in io::stdin().lines().map_while(Result::ok) {
        run(&line);
    }
}
