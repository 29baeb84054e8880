//! Async methods of a plain and of a generic type, and a boxed one of a trait.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Notify;
use truth::here;

pub struct Shop<T> {
    pub till: Till<T>,
    pub closing: Arc<Notify>,
}

pub struct Till<T> {
    pub content: T,
}

pub trait Settle {
    fn settle<'a>(&'a self, closing: &'a Notify) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

impl<T: Copy + Send + Sync> Shop<T> {
    pub async fn sell(&self, pieces: u32) -> u32 {
        let label = format!("{} pieces", pieces);
        here!("nested::shop::Shop::sell");
        self.till.charge(&self.closing).await;
        label.len() as u32
    }
}

impl<T: Copy + Send + Sync> Till<T> {
    pub async fn charge(&self, closing: &Notify) -> T {
        let before = self.content;
        here!("nested::shop::Till::charge");
        self.settle(closing).await;
        before
    }
}

impl<T: Send + Sync> Settle for Till<T> {
    fn settle<'a>(&'a self, closing: &'a Notify) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            here!("<nested::shop::Till as nested::shop::Settle>::settle::{async_block#0}");
            closing.notified().await;
        })
    }
}
