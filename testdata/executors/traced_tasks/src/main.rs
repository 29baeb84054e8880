//! Runs tasks of async-executor, and counts for itself what a tracer should count.
//!
//! Prints "ready". Each line of stdin names a section, as in `traced` (programs/traced), whose keys
//! are used here too. All of a section is over at "done".
//!
//! counts               tasks of an Executor that three threads run: they yield, sleep, spawn, panic, are cancelled
//! local                tasks of a LocalExecutor
//! pingpong [ROUNDS]    two tasks of one thread that wake each other
//! reuse [TASKS]        tasks that follow each other, at the same addresses
//! dropped              an Executor that is dropped with tasks that wait, and such as were never polled
//! alikes                tasks of two types whose code is the same
//! stall                a task that sleeps in its poll for 30 ms
//! both                 tasks of an Executor beside those of a tokio runtime
//! flat [SECONDS]       a task that yields as fast as it can
//!
//! Keys beside those of `traced`: at.NAME (the address of a task's header), alikes (polls of both).

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
        "local" => tasks::local(),
        "pingpong" => tasks::pingpong(number.unwrap_or(1000)),
        "reuse" => tasks::reuse(number.unwrap_or(200)),
        "dropped" => tasks::dropped(),
        "alikes" => tasks::alikes(),
        "stall" => tasks::stall(),
        "both" => tasks::both(),
        "flat" => tasks::flat(number.unwrap_or(3)),
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
