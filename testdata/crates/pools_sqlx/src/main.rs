//! Pools of sqlx, in the situations of `pools`, and a transaction in one.

#[path = "../../pools/src/known.rs"]
mod known;

mod server;

use truth::{here, Truth, FOREVER};

macro_rules! pool {
    ($name:ident, $sqlx:ident) => {
        mod $name {
            use ::$sqlx::pool::{PoolConnection, PoolOptions};
            use ::$sqlx::postgres::{PgConnectOptions, PgSslMode};
            use ::$sqlx::Postgres;

            type Pool = ::$sqlx::Pool<Postgres>;
            type Connection = PoolConnection<Postgres>;

            const TIMES_OUT: bool = true;
            /// A queue in it keeps its ends apart.
            const OFFSET: usize = 128;

            macro_rules! name {
                ($of:literal) => {
                    concat!("pools_sqlx::", stringify!($name), "::", $of)
                };
            }
            macro_rules! get {
                ($pool:ident) => {
                    $pool.acquire()
                };
            }
            macro_rules! owned {
                ($pool:ident) => {
                    $pool.acquire()
                };
            }

            include!("../../pools/src/situations.rs");
            include!("transaction.rs");

            pub fn open(port: u16) -> Pool {
                let server = PgConnectOptions::new_without_pgpass()
                    .host("127.0.0.1")
                    .port(port)
                    .username("nobody")
                    .ssl_mode(PgSslMode::Disable);
                PoolOptions::new()
                    .max_connections(crate::known::SIZE as u32)
                    .acquire_timeout(FOREVER)
                    .max_lifetime(None)
                    .idle_timeout(None)
                    .connect_lazy_with(server)
            }
        }
    };
}

pool!(new, sqlx);
pool!(old, sqlx_old);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut known = known::Known::default();
    let port = server::start();
    new::spawn_all(&mut known, || new::open(port)).await;
    new::in_transactions(&mut known, new::open(port)).await;
    old::spawn_all(&mut known, || old::open(port)).await;
    old::in_transactions(&mut known, old::open(port)).await;
    Truth::new("pools_sqlx")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(known.tasks)
        .holds(known.holds)
        .graph(known.graph)
        .block_on(&["pools_sqlx::main::{async_block#0}"])
        .publish();
    here!("pools_sqlx::main::{async_block#0}");
    tokio::time::sleep(FOREVER).await;
}
