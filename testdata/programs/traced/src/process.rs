//! What a process does while it is traced: it forks, and executes another program.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::count::also;

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Runs it in a child, which counts for nobody, and then here.
pub fn fork_first(run: impl Fn()) {
    let mut status = 0;

    // SAFETY: no other thread is there that could hold a lock of the child's, and it leaves without
    // running what the parent has registered for its own end.
    unsafe {
        let child = fork();
        assert!(child >= 0, "cannot fork");
        if child == 0 {
            run();
            _exit(7);
        }
        assert_eq!(waitpid(child, &mut status, 0), child);
    }
    run();
    also("status", status as u64 >> 8);
}

pub fn exec<'a>(section: impl Iterator<Item = &'a str>) -> ! {
    let this = env::current_exe().expect("no path of the program");
    let error = Command::new(this).arg("now").args(section).exec();

    panic!("cannot execute it: {}", error);
}
