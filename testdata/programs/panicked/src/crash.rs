//! Ways in which a task ends the program, for the core that the kernel then writes.

use tokio::task::yield_now;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("while another panic unwinds");
    }
}

/// Needs more stack than there is.
#[inline(never)]
fn descend(depth: u64) -> u64 {
    let kept = std::hint::black_box([depth; 8]);
    if depth == u64::MAX {
        return 0;
    }
    descend(depth + 1) + std::hint::black_box(kept)[1]
}

/// Calls what is no code, so that nothing says where its caller is.
#[inline(never)]
fn jump() {
    let bytes = std::hint::black_box(Box::new([0_u8; 64]));
    let function: fn() = unsafe { std::mem::transmute(bytes.as_ptr()) };
    function();
    drop(bytes);
}

#[inline(never)]
fn crash(how: &str) {
    match how {
        "abort" => std::process::abort(),
        "panic" => {
            let _bomb = Bomb;
            panic!("the first one");
        }
        "jump" => jump(),
        "overflow" => drop(descend(0)),
        _ => unsafe { std::ptr::null_mut::<u32>().write_volatile(1) },
    }
}

/// Never ends: the program does before.
pub async fn run(how: String) {
    yield_now().await;
    crash(&how);
}
