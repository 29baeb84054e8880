//! The database and pools, two of which are exhausted.

use std::future::pending;
use std::io;

use deadpool::managed::{Manager, Metrics, Object, Pool, RecycleResult};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::net::{TcpListener, TcpStream};

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

/// Somebody keeps the only connection of each pool, others wait for it.
pub async fn exhaust() {
    let backends = backends(1).await;
    tokio::spawn(migrate(backends.clone()));
    while backends.status().available > 0 || backends.status().size == 0 {
        tokio::task::yield_now().await;
    }
    tokio::spawn(late_migration(backends.clone()));
    tokio::spawn(late_migration(backends));
    let database = SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(std::time::Duration::from_secs(3600))
        .connect_with(SqliteConnectOptions::new().in_memory(true))
        .await
        .expect("cannot open a database");
    tokio::spawn(backup(database.clone()));
    while database.num_idle() > 0 {
        tokio::task::yield_now().await;
    }
    tokio::spawn(late_backup(database));
}
