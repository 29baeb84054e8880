//! The HTTP front.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::Router;
use moka::future::Cache;
use sqlx::sqlite::SqlitePool;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tower::buffer::Buffer;
use tower::util::BoxService;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::pools::{self, Backends};
use crate::queues::{self, Order};

type Prices = Buffer<usize, <BoxService<usize, usize, tower::BoxError> as Service<usize>>::Future>;

#[derive(Clone)]
struct Shop {
    database: SqlitePool,
    backends: Backends,
    orders: flume::Sender<Order>,
    events: async_channel::Sender<usize>,
    cache: Cache<usize, usize>,
    prices: Prices,
}

async fn price_of(number: usize) -> Result<usize, tower::BoxError> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    Ok(number + 1)
}

/// At most four prices at a time.
fn prices() -> Prices {
    let service = ServiceBuilder::new()
        .concurrency_limit(4)
        .timeout(Duration::from_secs(5))
        .service_fn(price_of);
    Buffer::new(BoxService::new(service), 8)
}

async fn look_up(database: SqlitePool, number: usize) -> usize {
    let number = i64::try_from(number).expect("too large");
    let sum: i64 = sqlx::query_scalar("SELECT ? + 1")
        .bind(number)
        .fetch_one(&database)
        .await
        .expect("no answer");
    usize::try_from(sum).expect("negative")
}

async fn order(State(shop): State<Shop>, Path(number): Path<usize>) -> Result<String, StatusCode> {
    let database = shop.database.clone();
    let stock = shop.cache.get_with(number % 16, look_up(database, number)).await;
    let (reply, packed) = oneshot::channel();
    shop.orders.send_async(Order { number, reply }).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let packed = packed.await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    Ok(format!("order {} of {}", packed, stock))
}

async fn report(State(shop): State<Shop>, Path(number): Path<usize>) -> Result<String, StatusCode> {
    let backend = shop.backends.get().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let mut prices = shop.prices.clone();
    let ready = prices.ready().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let price = ready.call(number).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    shop.events.send(price).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    drop(backend);
    Ok(format!("price {}", price))
}

pub async fn serve(database: SqlitePool) -> SocketAddr {
    let shop = Shop {
        database,
        backends: pools::backends(2).await,
        orders: queues::packers(),
        events: queues::events(),
        cache: Cache::builder().max_capacity(8).build(),
        prices: prices(),
    };
    let router = Router::new()
        .route("/order/{number}", get(order))
        .route("/report/{number}", get(report))
        .with_state(shop);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
