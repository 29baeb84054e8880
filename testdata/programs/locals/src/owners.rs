//! Pointers that own, cells, locks, and what only has a type to show.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

use tokio::time::sleep;
use truth::{here, locals, used, FOREVER};

pub async fn owners() {
    let boxed = Box::new(5u32);
    let rc = Rc::new("rc".to_string());
    let weak = Rc::downgrade(&rc);
    let arc = Arc::new(vec![1u8, 2]);
    let cell = Cell::new(3i16);
    let ref_cell = RefCell::new(Some(4u8));
    let shared = Rc::new(RefCell::new(vec![1u64]));
    let pinned = Box::pin(6u8);
    let flag = AtomicBool::new(true);
    let counter = AtomicU32::new(77);
    counter.fetch_add(1, Ordering::Relaxed);
    let nested = Box::new(Some(Arc::new((1u8, Rc::new(2u8)))));
    locals! { "locals::owners::owners" =>
        boxed, rc, weak, arc, cell, ref_cell, shared, pinned, flag, counter, nested
    }
    here!("locals::owners::owners");
    sleep(FOREVER).await;
    used!(boxed, rc, weak, arc, cell, ref_cell, shared, pinned, flag, counter, nested);
}

pub async fn locks() {
    let mutex = std::sync::Mutex::new(5u8);
    let rwlock = std::sync::RwLock::new("six".to_string());
    let tokio_mutex = tokio::sync::Mutex::new(7u16);
    // Its text depends on tokio's version.
    let tokio_rwlock = tokio::sync::RwLock::new(8u16);
    let shared = Arc::new(std::sync::Mutex::new(vec![1u8]));
    let poisoned = Arc::new(std::sync::Mutex::new(9u8));
    let theirs = poisoned.clone();
    let thread = std::thread::Builder::new().spawn(move || {
        let _guard = theirs.lock();
        std::panic::resume_unwind(Box::new(()));
    });
    thread.unwrap().join().unwrap_err();
    locals! { "locals::owners::locks" =>
        mutex, rwlock, tokio_mutex, shared, poisoned
    }
    here!("locals::owners::locks");
    sleep(FOREVER).await;
    used!(mutex, rwlock, tokio_mutex, tokio_rwlock, shared, poisoned);
}

#[derive(Debug)]
#[allow(dead_code)]
struct Thing {
    number: u8,
}

#[derive(Debug)]
#[allow(dead_code)]
struct Broken(&'static str);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {}

pub async fn objects() {
    let object: Box<dyn Debug> = Box::new(Thing { number: 4 });
    let error: Box<dyn std::error::Error> = Box::new(Broken("why"));
    let stack = Thing { number: 5 };
    let borrowed: &dyn Debug = &stack;
    let shared: Rc<dyn Debug> = Rc::new(Thing { number: 6 });
    let function: fn(u8) -> u8 = u8::reverse_bits;
    let pointer: *const u8 = std::ptr::null();
    let closure = move |n: u8| n + stack.number;
    let future = sleep(FOREVER);
    locals! { "locals::owners::objects" =>
        object, error, borrowed, shared, function, pointer
    }
    here!("locals::owners::objects");
    sleep(FOREVER).await;
    used!(object, error, borrowed, shared, function, pointer, closure, future);
}
