//! Runs tasks, and counts for itself what a tracer should count.
//!
//! Prints "ready". Each line of stdin names a section: it is run, then its truth is printed, a line
//! "truth KEY VALUE" for each number, then "done". The program ends with stdin. `traced now SECTION`
//! runs that section at once and ends. What a section does begins after it was named, the start of
//! its runtimes too, and all of it is over at "done".
//!
//! counts               tasks of a multi-thread runtime that yield, sleep, spawn, panic and are aborted; jobs
//! current              tasks of a current-thread runtime and of a LocalSet
//! several              two multi-thread runtimes, one after the other started
//! brief [RUNTIMES]     multi-thread runtimes, each of which is built, runs a task and is dropped
//! pingpong [ROUNDS]    two tasks of one worker that wake each other
//! boxed                tasks whose futures are in boxes, or await such ones
//! stall [MS]           a task that sleeps in its poll for 30 ms, or MS
//! spin [MS]            a task that computes in its poll for 30 ms, or MS
//! share [SECONDS]      a task that computes, a third of the time in one function and the rest in another one
//! starve               a task that is spawned, while the only worker sleeps for 150 ms
//! rate [SECONDS]       a task that is polled 100,000 times a second
//! flat [SECONDS [WORKERS]]  a task a worker that yields as fast as it can
//! backtrace            a task that captures its own backtrace
//! hooked [MS]          tasks that yield and sleep for so long; what tokio's hooks see (tokio_unstable)
//! timed [MS]           tasks on many workers, beside threads that compute; hooks time each poll (tokio_unstable)
//! top [SECONDS]        tasks that stand out, each in a way of its own
//! crowd [TASKS [SECONDS [PERIOD]]]  so many tasks, each of which wakes up each PERIOD ms
//! fork [ROUNDS]        pingpong in a child that the program forks, and then in itself
//! exec SECTION         the program executes itself, with "now" and that section
//!
//! Keys: spawned (tasks), polls (of their futures), terminated (of them), cancels (runs that drop
//! an aborted task without a poll), blocking (jobs), workers, calls.poll (of tokio's function that
//! polls a task, which has one call for each job and each worker too), calls.complete (likewise),
//! polls.NAME (polls by the task's async fn). wakes, wakes.NAME (of that task by the other one),
//! longest.ID (ns, from before the longest poll of that task to behind it),
//! id.NAME (of the task of that async fn), stalls (polls that sleep), rounds (of waking), own (wake-ups of a
//! task by itself), status (of the child), parks (worker_park_count of all workers), stall_ns (how long the poll takes at least), starved_ns (likewise,
//! how long the task waits), parts (of which the first function takes one), frames (of the backtrace), elapsed_ns, cpu_ns (of the whole process).

mod boxes;
mod brief;
mod count;
#[cfg(tokio_unstable)]
mod hooked;
mod load;
mod process;
mod tasks;
#[cfg(tokio_unstable)]
mod timed;
mod top;

use std::env;
use std::io;

use truth::say;

fn run(section: &str) {
    let mut words = section.split_whitespace();
    let name = words.next().unwrap_or("");
    if name == "exec" {
        process::exec(words);
    }
    let numbers: Vec<u64> = words.map(|word| word.parse().expect("not a number")).collect();
    let number = |at: usize, default: u64| numbers.get(at).copied().unwrap_or(default);

    match name {
        "counts" => tasks::counts(),
        "current" => tasks::current(),
        "several" => tasks::several(),
        "brief" => brief::brief(number(0, 10)),
        "pingpong" => tasks::pingpong(number(0, 1000)),
        "stall" => load::stall(number(0, 30)),
        "spin" => load::spin(number(0, 30)),
        "share" => load::share(number(0, 3)),
        "boxed" => boxes::boxed(),
        "starve" => load::starve(),
        "rate" => load::rate(number(0, 3)),
        "flat" => load::flat(number(0, 3), number(1, 1)),
        "crowd" => top::crowd(number(0, 1000), number(1, 3), number(2, 1000)),
        "top" => top::top(number(0, 4)),
        "backtrace" => load::backtrace(),
        #[cfg(tokio_unstable)]
        "hooked" => hooked::hooked(number(0, 1000)),
        #[cfg(tokio_unstable)]
        "timed" => timed::timed(number(0, 1000)),
        "fork" => process::fork_first(|| tasks::pingpong(number(0, 1000))),
        _ => panic!("no section \"{}\"", section),
    }
    count::tell();
    say("done");
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    say("ready");
    if arguments.first().map(String::as_str) == Some("now") {
        run(&arguments[1..].join(" "));
        return;
    }
    for line in io::stdin().lines().map_while(Result::ok) {
        run(&line);
    }
}
