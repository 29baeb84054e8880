//! Pools of two connections that are exhausted: by tasks that will give them back, by tasks that
//! wait for another one of the same pool, by tasks that got them from others. Each kind of pool is
//! in each situation.

mod known;
mod pools;

use truth::{here, Truth, FOREVER};

macro_rules! pool {
    ($name:ident, $get:ident, $owned:ident, $times_out:literal) => {
        mod $name {
            use crate::pools::$name::{Connection, Pool};

            const TIMES_OUT: bool = $times_out;
            const OFFSET: usize = 2 * std::mem::size_of::<usize>();

            macro_rules! name {
                ($of:literal) => {
                    concat!("pools::", stringify!($name), "::", $of)
                };
            }
            macro_rules! get {
                ($pool:ident) => {
                    $pool.$get()
                };
            }
            macro_rules! owned {
                ($pool:ident) => {
                    $pool.$owned()
                };
            }

            include!("situations.rs");
        }
    };
}

pool!(managed, get, get, false);
pool!(managed_old, get, get, false);
pool!(unmanaged, get, get, false);
pool!(unmanaged_old, get, get, false);
pool!(bb8, get, get_owned, true);
pool!(bb8_old, get, get_owned, true);
pool!(mobc, get, get, false);
pool!(mobc_old, get, get, false);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut known = known::Known::default();
    managed::spawn_all(&mut known, pools::managed::open).await;
    managed_old::spawn_all(&mut known, pools::managed_old::open).await;
    unmanaged::spawn_all(&mut known, pools::unmanaged::open).await;
    unmanaged_old::spawn_all(&mut known, pools::unmanaged_old::open).await;
    bb8::spawn_all(&mut known, pools::bb8::open).await;
    bb8_old::spawn_all(&mut known, pools::bb8_old::open).await;
    mobc::spawn_all(&mut known, pools::mobc::open).await;
    mobc_old::spawn_all(&mut known, pools::mobc_old::open).await;
    Truth::new("pools")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(known.tasks)
        .holds(known.holds)
        .graph(known.graph)
        .block_on(&["pools::main::{async_block#0}"])
        .publish();
    here!("pools::main::{async_block#0}");
    tokio::time::sleep(FOREVER).await;
}
