//! Ways in which a task ends the program, for the core that the kernel then writes.

use tokio::task::yield_now;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("while another panic unwinds");
    }
}

#[inline(never)]
fn crash(how: &str) {
    match how {
        "abort" => std::process::abort(),
        "panic" => {
            let _bomb = Bomb;
            panic!("the first one");
        }
        _ => unsafe { std::ptr::null_mut::<u32>().write_volatile(1) },
    }
}

/// Never ends: the program does before.
pub async fn run(how: String) {
    yield_now().await;
    crash(&how);
}
