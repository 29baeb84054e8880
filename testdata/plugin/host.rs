//! Loads each LIBRARY, calls its function plugin and unloads it again, TIMES times. Prints what each call has
//! returned. With a third argument, each time it first prints "ready" and reads a line of stdin.
//!
//! usage: host LIBRARY[:LIBRARY...] TIMES [WAIT]

use std::ffi::{c_char, c_int, c_void, CString};

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_NOW: c_int = 2;

fn call(path: &CString, n: u32) -> u64 {
    unsafe {
        let library = dlopen(path.as_ptr(), RTLD_NOW);
        assert!(!library.is_null(), "it cannot be loaded");
        let symbol = dlsym(library, c"plugin".as_ptr());
        assert!(!symbol.is_null(), "it has no such function");
        let plugin: extern "C" fn(u32) -> u64 = std::mem::transmute(symbol);
        let answer = plugin(n);
        dlclose(library);
        answer
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let paths = arguments.next().expect("no library");
    let times: u32 = arguments.next().expect("no number").parse().expect("no number");

    let waits = arguments.next().is_some();

    for n in 0..times {
        if waits {
            println!("ready");
            std::io::stdin().read_line(&mut String::new()).expect("no line");
        }
        for path in paths.split(':') {
            println!("{}", call(&CString::new(path).expect("a NUL"), n));
        }
    }
}
