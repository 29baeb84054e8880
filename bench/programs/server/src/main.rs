//! An axum server whose handlers sleep a little. Says `ready` and its port, and ends with stdin.
//! With the feature `console` it serves tokio-console.

use std::io::{self, Read};
use std::process;
use std::thread;
use std::time::Duration;

use axum::extract::Path;
use axum::routing::get;
use axum::Router;
use tokio::net::TcpListener;
use tokio::time::sleep;

async fn look_up(number: usize) -> String {
    sleep(Duration::from_millis(1)).await;
    format!("item {number}")
}

async fn item(Path(number): Path<usize>) -> String {
    look_up(number).await
}

async fn health() -> &'static str {
    "fine"
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    #[cfg(feature = "console")]
    console_subscriber::init();
    let router = Router::new().route("/item/{number}", get(item)).route("/health", get(health));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let port = listener.local_addr().expect("no address").port();
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    println!("ready\n{{\"program\":\"server\",\"port\":{port}}}");
    axum::serve(listener, router).await.expect("cannot serve");
}
