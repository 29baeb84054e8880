//! Tells whether the threads of this process are at rest.

use std::fs;
use std::io;

/// The kernel's id of the calling thread.
pub fn own_tid() -> u32 {
    let link = fs::read_link("/proc/thread-self").expect("/proc is not mounted");
    let tid = link.file_name().and_then(|name| name.to_str());
    tid.and_then(|tid| tid.parse().ok()).expect("/proc/thread-self names no thread")
}

#[derive(PartialEq)]
struct Sleeper {
    tid: u32,
    switches: String,
}

/// Succeeds if at some moment all threads slept, but for the caller and the busy ones.
///
/// A thread that sleeps at two looks with no context switch between them slept all the
/// while, and these whiles overlap.
pub fn check(busy: &[u32]) -> Result<(), String> {
    let first = sleepers(busy)?;
    let second = sleepers(busy)?;
    if first == second {
        Ok(())
    } else {
        Err("threads come, go or wake up".to_string())
    }
}

fn sleepers(busy: &[u32]) -> Result<Vec<Sleeper>, String> {
    let own = own_tid();
    let mut sleepers = Vec::new();
    for tid in tids().map_err(|err| err.to_string())? {
        if tid != own && !busy.contains(&tid) {
            let switches = switches_of_sleeper(tid).ok_or(format!("thread {} runs", tid))?;
            sleepers.push(Sleeper { tid, switches });
        }
    }
    Ok(sleepers)
}

fn tids() -> io::Result<Vec<u32>> {
    let mut tids = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
        tids.extend(entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(tids)
}

fn switches_of_sleeper(tid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/self/task/{}/status", tid)).ok()?;
    let asleep = status.lines().any(|line| line.starts_with("State:\tS"));
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    asleep.then(|| switches.collect())
}
