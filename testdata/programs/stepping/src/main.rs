//! Runs one scenario of asynchronous code, and says which of its lines it has executed.
//!
//! stepping SCENARIO [--crowd] [--wait]
//!
//! Prints "ready", runs the scenario, and prints in one line of JSON the lines of each instance that
//! it numbers, in their order; 0 is the one that has the scenario's name. --crowd adds four tasks that
//! are polled as fast as they can be, in functions of the scenario `crowded`. --wait: it begins when a
//! line has come from stdin.

mod abrupt;
mod awaits;
mod crowd;
mod ends;
mod kinds;
mod quits;
mod record;
mod roots;
mod system;
mod together;
mod values;
mod work;

use std::env;
use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use truth::say;

use record::Me;

const ME: Me = Me(0);

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(4).enable_time().build().expect("no runtime")
}

/// Runs it as a task, alone or in a crowd.
fn spawn<F>(crowd: bool, task: F)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_among(if crowd { crowd::start } else { || Vec::new() }, task);
}

fn spawn_among<F>(start: fn() -> Vec<JoinHandle<u32>>, task: F)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    runtime().block_on(async move {
        let others = start();
        let _ = tokio::spawn(task).await;
        crowd::end(others).await;
    });
}

fn run(scenario: &str, crowd: bool) {
    match scenario {
        "aborted" => spawn(crowd, ends::aborted(ME)),
        "alarms" => spawn(crowd, system::alarms(ME)),
        "applies" => spawn(crowd, values::applies(ME)),
        "block" => spawn(crowd, kinds::block(ME)),
        "block_on" => roots::block_on(ME),
        "blocking" => spawn(crowd, roots::blocking(ME)),
        "boxed" => spawn(crowd, values::boxed(ME)),
        "branches" => spawn(crowd, awaits::branches(ME)),
        "budget" => spawn(crowd, awaits::budget(ME)),
        "buffered" => spawn(crowd, together::buffered(ME)),
        "by_hand" => spawn(crowd, kinds::by_hand(ME)),
        "by_reference" => spawn(crowd, together::by_reference(ME)),
        "calls" => spawn(crowd, kinds::calls(ME)),
        "catches" => spawn(crowd, ends::catches(ME)),
        "closure" => spawn(crowd, kinds::closure(ME)),
        "crowded" => spawn_among(crowd::start_later, crowd::crowded(Some(ME))),
        "current" => roots::current(ME),
        "current_root" => roots::current_root(ME),
        "descend" => spawn(crowd, together::descend(ME, 3)),
        "drops" => spawn(crowd, together::drops(ME)),
        "elapses" => spawn(crowd, together::elapses(ME)),
        "enters" => spawn(crowd, awaits::enters(ME)),
        "error" => spawn(crowd, awaits::error(ME)),
        "exits" => spawn(crowd, abrupt::exits(ME)),
        "exits_elsewhere" => spawn(crowd, abrupt::exits_elsewhere(ME)),
        "executes" => spawn(crowd, system::executes(ME)),
        "forks" => drop(system::forks(ME)),
        "forgets" => spawn(crowd, abrupt::forgets(ME)),
        "generics" => spawn(crowd, kinds::generics(ME)),
        "hoists" => spawn(crowd, awaits::hoists(ME)),
        "join" => spawn(crowd, together::join(ME)),
        "joins" => spawn(crowd, ends::joins(ME)),
        "large" => spawn(crowd, awaits::large(ME)),
        "local" => roots::local(ME),
        "main_exits" => quits::main_exits(ME),
        "macros" => spawn(crowd, together::macros(ME)),
        "meets" => spawn(crowd, abrupt::meets(ME)),
        "migrates" => spawn(crowd, awaits::migrates(ME)),
        "neighbour" => spawn(crowd, crowd::neighbour(ME)),
        "nested" => spawn(crowd, roots::nested(ME)),
        "panics" => spawn(crowd, ends::panics(ME)),
        "pauses" => spawn(crowd, awaits::pauses(ME)),
        "plain" => spawn(crowd, awaits::plain(ME)),
        "poll_exits" => quits::poll_exits(ME),
        "pool" => roots::pool(ME),
        "ready" => spawn(crowd, awaits::ready(ME)),
        "repeats" => spawn(crowd, awaits::repeats(ME)),
        "returns" => spawn(crowd, values::returns(ME)),
        "root" => drop(runtime().block_on(roots::root(ME))),
        "rounds" => spawn(crowd, awaits::rounds(ME)),
        "select" => spawn(crowd, together::select(ME)),
        "shutdown" => ends::shutdown(ME),
        "signals" => spawn(crowd, system::signals(ME)),
        "spawns" => spawn(crowd, roots::spawns(ME)),
        "spawns_object" => spawn(crowd, roots::spawns_object(ME)),
        "spins" => spawn(crowd, abrupt::spins(ME)),
        "threads" => spawn(crowd, system::threads(ME)),
        "suspended_exits" => quits::suspended_exits(ME),
        "thread_exits" => quits::thread_exits(ME),
        "threads_meet" => abrupt::threads_meet(ME),
        "timer" => spawn(crowd, awaits::timer(ME)),
        "try_join" => spawn(crowd, together::try_join(ME)),
        "unordered" => spawn(crowd, together::unordered(ME)),
        "unwinds" => spawn(crowd, ends::unwinds(ME)),
        // Its poll function is behind a vtable, and so inlined nowhere.
        "waits" => {
            spawn(crowd, Box::pin(awaits::waits(ME)) as Pin<Box<dyn Future<Output = u32> + Send>>)
        }
        "wrapped" => spawn(crowd, kinds::wrapped(ME)),
        _ => panic!("no scenario \"{scenario}\""),
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let scenario = arguments.first().expect("which scenario?");
    say("ready");
    let has = |option| arguments.iter().any(|argument| argument == option);
    if has("--wait") {
        io::stdin().read_line(&mut String::new()).expect("no stdin");
    }
    run(scenario, has("--crowd"));
    say(&record::tell(scenario));
}
