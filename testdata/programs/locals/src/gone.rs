//! Variables that were moved out or are not yet there, beside some that are.

use tokio::time::sleep;
use truth::{here, locals, moved, used, FOREVER};

struct Guard(u8);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0 = 0;
    }
}

/// Borrowed, then moved: they keep their places in the future.
pub async fn dropped(keep: bool) {
    let text = "dropped".to_string();
    let guard = Guard(5);
    let kept = "kept".to_string();
    let plain = text.len() + usize::from(guard.0) + usize::from(keep);
    drop(text);
    drop(guard);
    moved!("locals::gone::dropped", text, guard);
    locals! { "locals::gone::dropped" =>
        kept, plain
    }
    here!("locals::gone::dropped");
    sleep(FOREVER).await;
    used!(kept, plain);
}

/// Moved on one way only: a flag decides whether it is dropped at the end.
pub async fn perhaps(away: bool) {
    let text = "perhaps".to_string();
    let other = "stays".to_string();
    if away {
        drop(text);
    }
    if !away {
        drop(other);
        return;
    }
    moved!("locals::gone::perhaps", text);
    locals! { "locals::gone::perhaps" =>
        other
    }
    here!("locals::gone::perhaps");
    sleep(FOREVER).await;
    used!(other);
}

/// Guards that own nothing by a pointer, and yet have something to drop.
pub async fn released() {
    let semaphore = tokio::sync::Semaphore::new(2);
    let mutex = tokio::sync::Mutex::new(5u8);
    let permit = semaphore.try_acquire().unwrap();
    let guard = mutex.try_lock().unwrap();
    let text = format!("{:?} {:?}", permit, guard);
    drop(permit);
    drop(guard);
    moved!("locals::gone::released", permit, guard);
    locals! { "locals::gone::released" =>
        mutex
    }
    here!("locals::gone::released");
    sleep(FOREVER).await;
    used!(text, mutex, semaphore);
}

fn make(n: usize) -> Option<String> {
    Some("x".repeat(n))
}

/// Looked at without any call, then moved: nothing could have unwound while it was alive.
pub async fn matched(n: usize) {
    let made = make(n);
    let is_some = if let Some(_) = &made { 1u8 } else { 2 };
    drop(made);
    moved!("locals::gone::matched", made);
    locals! { "locals::gone::matched" =>
        is_some
    }
    here!("locals::gone::matched");
    sleep(FOREVER).await;
    used!(is_some);
}

async fn take(text: String, numbers: Vec<u8>) {
    locals! { "locals::gone::take" =>
        text, numbers
    }
    here!("locals::gone::take");
    sleep(FOREVER).await;
    used!(text, numbers);
}

/// Arguments that are passed on to what is awaited.
pub async fn passed(text: String, numbers: Vec<u8>) {
    let length = text.len();
    moved!("locals::gone::passed", text, numbers);
    locals! { "locals::gone::passed" =>
        length
    }
    here!("locals::gone::passed");
    take(text, numbers).await;
    used!(length);
}

/// Given a value only after the await, or on one way only.
pub async fn later(early: bool) {
    let now = 1u8;
    let text: String;
    let number: u64;
    if early {
        text = "early".to_string();
        used!(text);
    }
    moved!("locals::gone::later", text, number);
    locals! { "locals::gone::later" =>
        now
    }
    here!("locals::gone::later");
    sleep(FOREVER).await;
    number = u64::from(now);
    used!(number);
}

/// A block that captures, by value and by reference, and hides one of its captures.
pub async fn block(text: String) {
    let count = 3u32;
    let name = "name".to_string();
    let lengths = [text.len(), name.len()];
    let inner = async move {
        let total = count as usize + lengths[0] + lengths[1];
        locals! { "locals::gone::block::{async_block#0}" =>
            text, count, name, total
        }
        here!("locals::gone::block::{async_block#0}");
        sleep(FOREVER).await;
        used!(total, text, count, name);
    };
    here!("locals::gone::block");
    inner.await;
}

/// A block that only borrows from the function around it.
pub async fn borrowed(text: String) {
    let list = vec![text.len()];
    let inner = async {
        let sum = text.len() + list.len();
        locals! { "locals::gone::borrowed::{async_block#0}" =>
            text, list, sum
        }
        here!("locals::gone::borrowed::{async_block#0}");
        sleep(FOREVER).await;
        used!(text, list, sum);
    };
    here!("locals::gone::borrowed");
    inner.await;
}

struct Request {
    name: String,
    tags: Vec<u8>,
}

/// A part of it was moved out.
pub async fn parts() {
    let request = Request { name: "name".to_string(), tags: vec![1, 2] };
    let length = request.name.len() + request.tags.len();
    drop(request.name);
    moved!("locals::gone::parts", request);
    locals! { "locals::gone::parts" =>
        length
    }
    here!("locals::gone::parts");
    sleep(FOREVER).await;
    used!(length);
    drop(request.tags);
}
