//! The database and pools, two of which are exhausted.

use std::future::pending;
use std::io;

use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleResult};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub async fn open_database() -> SqlitePool {
    let options = SqliteConnectOptions::new().in_memory(true);
    SqlitePoolOptions::new()
        .max_connections(3)
        .connect_with(options)
        .await
        .expect("cannot open a database")
}

/// Connections to a port at which nobody answers.
pub struct Backend {
    address: std::net::SocketAddr,
}

impl Backend {
    pub async fn listen() -> Backend {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
        let address = listener.local_addr().expect("no address");
        tokio::spawn(accept(listener));
        Backend { address }
    }
}

async fn accept(listener: TcpListener) {
    let mut connections = Vec::new();
    loop {
        let (connection, _) = listener.accept().await.expect("cannot accept");
        connections.push(connection);
    }
}

impl Manager for Backend {
    type Type = TcpStream;
    type Error = io::Error;

    async fn create(&self) -> io::Result<TcpStream> {
        TcpStream::connect(self.address).await
    }

    async fn recycle(&self, _: &mut TcpStream, _: &Metrics) -> RecycleResult<io::Error> {
        Ok(())
    }
}

pub type Backends = Pool<Backend>;

pub async fn backends(size: usize) -> Backends {
    Pool::builder(Backend::listen().await).max_size(size).build().expect("no pool")
}

struct Job {
    connection: Object<Backend>,
}

async fn migrate(backends: Backends) {
    let job = Job { connection: backends.get().await.expect("no connection") };
    pending::<()>().await;
    drop(job.connection);
}

async fn late_migration(backends: Backends) {
    let connection = backends.get().await.expect("no connection");
    drop(connection);
}

async fn backup(database: SqlitePool) {
    let mut transaction = database.begin().await.expect("no transaction");
    sqlx::query("SELECT 1").execute(&mut *transaction).await.expect("no answer");
    pending::<()>().await;
    transaction.rollback().await.expect("no rollback");
}

async fn late_backup(database: SqlitePool) {
    let connection = database.acquire().await.expect("no connection");
    drop(connection);
}

/// A pool whose connections others wait for, as JSON: the tasks that wait, and the tasks and
/// variables that have the connections.
fn pool(waiters: &[JoinHandle<()>], holders: &[JoinHandle<()>], path: &str) -> String {
    let id = |task: &JoinHandle<()>| truth::id(task).expect("no id").to_string();
    let waiters: Vec<_> = waiters.iter().map(id).collect();
    let holder = |task| format!("{{\"task\":{},\"path\":\"{}\"}}", id(task), path);
    let holders: Vec<_> = holders.iter().map(holder).collect();
    format!("{{\"waiters\":[{}],\"holders\":[{}]}}", waiters.join(","), holders.join(","))
}

async fn exhaust_backends() -> String {
    let backends = backends(2).await;
    let holders = [(); 2].map(|()| tokio::spawn(migrate(backends.clone())));
    while backends.status().available > 0 || backends.status().size < 2 {
        tokio::task::yield_now().await;
    }
    let waiters = [(); 2].map(|()| tokio::spawn(late_migration(backends.clone())));
    pool(&waiters, &holders, "job.connection")
}

async fn exhaust_database() -> String {
    let database = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(std::time::Duration::from_secs(3600))
        .connect_with(SqliteConnectOptions::new().in_memory(true))
        .await
        .expect("cannot open a database");
    let holder = tokio::spawn(backup(database.clone()));
    while database.num_idle() > 0 {
        tokio::task::yield_now().await;
    }
    let waiters = [(); 2].map(|()| tokio::spawn(late_backup(database.clone())));
    pool(&waiters, &[holder], "transaction.connection.0")
}

/// Some keep all connections of each pool, others wait for one. Returns the pools, as JSON.
pub async fn exhaust() -> String {
    format!("[{},{}]", exhaust_backends().await, exhaust_database().await)
}
