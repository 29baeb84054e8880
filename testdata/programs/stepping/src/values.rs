//! Values that are returned, and code that is called or awaited through others.

use std::cmp::Ordering;
use std::future::Future;
use std::pin::Pin;

use crate::record::Me;
use crate::work::{yields, Refused};

/// What it awaits is behind a vtable.
pub async fn boxed(me: Me) -> u32 {
    let child: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(yields(me.at(), 2));
    let a = child.await;
    me.add(a, 0)
}

/// Closures that it calls itself and that a library calls.
pub async fn applies(me: Me) -> u32 {
    let add = |number: u32| {
        let more = number + 1;
        me.add(more, 1)
    };
    let a = add(2);
    let b = Some(a).map(add);
    me.add(a, b.unwrap_or(0))
}

/// Ready with a value, after a suspension.
#[inline(never)]
async fn given<T>(me: Me, value: T) -> T {
    yields(me, 1).await;
    value
}

pub struct Named {
    pub number: u32,
    pub text: String,
}

#[inline(never)]
fn name(number: u32) -> Named {
    Named { number, text: String::from("name") }
}

/// Values of types that are returned in different ways.
pub async fn returns(me: Me) -> u32 {
    given(me, ()).await;
    let mut sum = given(me, 7_u32).await;
    sum += given(me, true).await as u32;
    sum += given(me, 200_u8).await as u32;
    sum += given(me, -3_i32).await.unsigned_abs();
    sum += given(me, 1_234_567_890_123_u64).await as u32;
    sum += given(me, 'x').await as u32;
    sum += given(me, Some(5_u32)).await.unwrap_or(0);
    sum += given(me, None::<u32>).await.unwrap_or(0);
    sum += given(me, Ok::<u32, Refused>(6)).await.unwrap_or(0);
    sum += given(me, Err::<u32, Refused>(Refused)).await.unwrap_or(0);
    sum += given(me, (1_u32, 2_u32)).await.1;
    sum += given(me, (3_u8, 4_u16)).await.0 as u32;
    sum += given(me, (5_u64, 6_u64)).await.1 as u32;
    sum += given(me, [1_u8, 2, 3]).await[0] as u32;
    sum += given(me, [7_u64; 4]).await[0] as u32;
    sum += given(me, "text").await.len() as u32;
    sum += given(me, String::from("words")).await.len() as u32;
    sum += given(me, vec![1_u32, 2, 3]).await[2];
    sum += *given(me, Box::new(9_u32)).await;
    sum += (given(me, Ordering::Greater).await as i8) as u32;
    let named = given(me, name(8)).await;
    sum += named.number + named.text.len() as u32;
    sum += given(me, 2.5_f64).await as u32;
    sum += given(me, 11_u128).await as u32;
    me.add(sum, 0)
}
