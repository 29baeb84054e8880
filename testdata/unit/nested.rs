//! Coroutines that await coroutines, near and far away in one object, and in boxes: for the unit tests of places.
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

pub struct Never;
impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

async fn last<const N: usize>() {
    let word = black_box(0u64);
    Never.await;
    black_box(&word);
}

/// Each keeps N bytes, an odd number, between what it awaits and its state: rustc puts those behind words.
macro_rules! levels {
    ($($name:ident $inner:ident),*) => {
        $(async fn $name<const N: usize>() {
            let bytes = [black_box(0u8); N];
            $inner::<N>().await;
            black_box(&bytes);
        })*
    };
}
levels!(first second, second third, third fourth, fourth fifth, fifth last);

/// Its state is below that of what it awaits first, and that is below that of what it awaits next.
async fn rising() {
    last::<55>().await;
    fifth::<55>().await
}

/// Awaits the same twice, at places that do not overlap.
async fn twice() {
    third::<55>().await;
    let bytes = [black_box(0u64); 25];
    third::<55>().await;
    black_box(&bytes);
}

async fn boxed() {
    Box::pin(boxes()).await
}

async fn boxes() {
    Box::pin(last::<0>()).await
}

/// A pointer to a pointer, which no copy follows.
async fn far() {
    Box::pin(Box::pin(last::<0>())).await
}

async fn far_end() {
    Box::pin(Box::pin(Never)).await
}

async fn object() {
    let object: Pin<Box<dyn Future<Output = ()>>> = Box::pin(Never);
    object.await
}

fn poll<F: Future<Output = ()>>(mut future: F, cx: &mut Context<'_>) {
    black_box(unsafe { Pin::new_unchecked(&mut future) }.poll(cx).is_ready());
}

#[no_mangle]
pub fn nested(cx: &mut Context<'_>) {
    poll(first::<511>(), cx);
    poll(rising(), cx);
    poll(twice(), cx);
    poll(boxed(), cx);
    poll(far(), cx);
    poll(far_end(), cx);
    poll(object(), cx);
}
