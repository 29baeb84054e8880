//! Tells which version of compio the lock has.

use std::{env, fs};

fn main() {
    let lock = env::var("CARGO_MANIFEST_DIR").unwrap() + "/../Cargo.lock";
    println!("cargo:rerun-if-changed={lock}");
    println!("cargo::rustc-check-cfg=cfg(no_task_list, root_is_task)");
    let lock = fs::read_to_string(lock).unwrap();
    let (_, version) = lock.split_once("name = \"compio\"\nversion = \"0.").unwrap();
    let minor: u32 = version.split('.').next().unwrap().parse().unwrap();
    if minor < 16 {
        println!("cargo:rustc-cfg=no_task_list");
    }
    if minor < 17 {
        println!("cargo:rustc-cfg=root_is_task");
    }
}
