//! Coroutines that are no plain async fn, and a future without one.

use std::future::Future;
use std::pin::Pin;
use std::task::{ready, Context, Poll};

use crate::record::Me;
use crate::work::{value, yields};

/// As the crate async-trait does it: a box around a block.
trait Dynamic {
    fn dynamic(&self, me: Me) -> Pin<Box<dyn Future<Output = u32> + Send + '_>>;
}

struct Number(u32);

impl Dynamic for Number {
    fn dynamic(&self, me: Me) -> Pin<Box<dyn Future<Output = u32> + Send + '_>> {
        Box::pin(async move {
            let a = yields(me.at(), 1).await;
            let b = value(me.at(), self.0).await;
            me.add(a, b)
        })
    }
}

pub async fn calls(me: Me) -> u32 {
    let number: Box<dyn Dynamic + Send + Sync> = Box::new(Number(me.add(2, 0)));
    let a = number.dynamic(me.other(1)).await;
    let b = yields(me.at(), 1).await;
    me.add(a, b)
}

pub async fn closure(me: Me) -> u32 {
    let other = me.other(1);
    let twice = me.pass(async |me: Me, number: u32| {
        let a = yields(me.at(), number).await;
        let b = yields(me.at(), number).await;
        me.add(a, b)
    });
    let a = twice(me.pass(other), 2).await;
    me.add(a, 0)
}

pub async fn block(me: Me) -> u32 {
    let other = me.other(1);
    let block = me.pass(async move {
        let a = yields(other.at(), 2).await;
        let b = yields(other.at(), 1).await;
        other.add(a, b)
    });
    let a = me.pass(block).await;
    me.add(a, 0)
}

/// Of several types.
pub async fn generic<T: Into<u64> + Send>(me: Me, number: T) -> u32 {
    let a = yields(me.at(), 2).await;
    let number: u64 = me.pass(number).into();
    let b = yields(me.at(), 1).await;
    me.add(a + number as u32, b)
}

pub async fn generics(me: Me) -> u32 {
    let (a, b, c) =
        tokio::join!(generic(me.other(1), 1_u64), generic(Me(2), 2_u32), generic(Me(3), 3_u8),);
    me.add(a + b, c)
}

/// Written by hand.
pub struct Countdown {
    me: Me,
    left: u32,
}

impl Future for Countdown {
    type Output = u32;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        let me = self.me.at();
        if me.add(self.left, 0) == 0 {
            return Poll::Ready(me.add(1, 0));
        }
        self.left -= me.add(1, 0);
        wake(me.at(), cx);
        me.pass(Poll::Pending)
    }
}

#[inline(never)]
fn wake(_: Me, cx: &Context<'_>) {
    cx.waker().wake_by_ref();
}

pub async fn by_hand(me: Me) -> u32 {
    let number = me.other(1);
    let a = Countdown { me: number, left: me.add(2, 0) }.await;
    let b = yields(me.at(), 1).await;
    me.add(a, b)
}

/// A future that polls another one, without an await.
pub struct Wrapper<F>(pub F);

impl<F: Future<Output = u32> + Unpin> Future for Wrapper<F> {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
        let value = ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(value + 1)
    }
}

pub async fn wrapped(me: Me) -> u32 {
    let child = Wrapper(Box::pin(yields(me.at(), 2)));
    let a = me.pass(child).await;
    me.add(a, 0)
}
