//! Types of std whose members say little.

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::collections::LinkedList;
use std::fmt::Debug;
use std::io::{Error, ErrorKind, Read};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{mpsc, Arc, LazyLock, Mutex, Once, OnceLock, RwLock};

use tokio::time::sleep;
use truth::{here, locals, used, FOREVER};

use crate::shown;

/// What is not `Send` but stays with its task.
struct Confined<T>(T);

unsafe impl<T> Send for Confined<T> {}

impl<T: std::fmt::Debug> std::fmt::Debug for Confined<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Confined").field(&self.0).finish()
    }
}

pub async fn cells() {
    let cell = Confined(Cell::new(1u8));
    let empty: Confined<OnceCell<u8>> = Confined(OnceCell::new());
    let once = Confined(OnceCell::from(2u8));
    let lazy: Confined<LazyCell<u8>> = Confined(LazyCell::new(|| 3));
    let forced: Confined<LazyCell<u8>> = Confined(LazyCell::new(|| 4));
    LazyCell::force(&forced.0);
    let borrowed = Confined(RefCell::new(5u8));
    let manual = ManuallyDrop::new(6u8);
    let maybe = MaybeUninit::new(7u8);
    let pinned: Pin<Box<u8>> = Box::pin(8);
    locals! { "values::standard::cells" =>
        cell, empty, once, lazy, forced, borrowed, manual, maybe, pinned
    }
    here!("values::standard::cells");
    sleep(FOREVER).await;
    used!(cell, empty, once, lazy, forced, borrowed, manual, maybe, pinned);
}

/// A struct with a tail, which is unsized behind a wide pointer.
#[allow(dead_code)]
#[derive(Debug)]
pub struct Tail<T: ?Sized> {
    head: u16,
    tail: T,
}

/// More aligned than the counts of an Arc and its lock are long.
#[allow(dead_code)]
#[derive(Debug)]
#[repr(align(64))]
pub struct Aligned(u8);

/// Without generics to tell whether the tail is a str or bytes.
pub struct Text(str);

pub async fn tails() {
    let slice: Box<Tail<[u16]>> = Box::new(Tail { head: 1, tail: [2, 3] });
    let object: Box<Tail<dyn Debug + Send + Sync>> = Box::new(Tail { head: 4, tail: 5u64 });
    let nested: Arc<Tail<Tail<[u8]>>> =
        Arc::new(Tail { head: 6, tail: Tail { head: 7, tail: [8] } });
    let lock: Arc<Mutex<dyn Debug + Send>> = Arc::new(Mutex::new(9u32));
    let aligned: Arc<Mutex<dyn Debug + Send>> = Arc::new(Mutex::new(Aligned(10)));
    let shared: Arc<dyn Debug + Send + Sync> = Arc::new(Aligned(11));
    let cell: Confined<Rc<RefCell<[u32]>>> = Confined(Rc::new(RefCell::new([12, 13])));
    let list: Vec<Arc<Mutex<dyn Debug + Send>>> = vec![lock.clone(), aligned.clone()];
    let path: Arc<std::path::Path> = Arc::from(std::path::Path::new("a/path"));
    let text: &Text = unsafe { &*("text" as *const str as *const Text) };
    shown!("values::standard::tails", text, "Text(b\"{}\")", &text.0);
    locals! { "values::standard::tails" =>
        slice, object, nested, lock, aligned, shared, cell, list, path
    }
    here!("values::standard::tails");
    sleep(FOREVER).await;
    used!(slice, object, nested, lock, aligned, shared, cell, list, path, text);
}

pub async fn locks() {
    let name = "values::standard::locks";
    let mutex = Mutex::new(1u8);
    let rwlock = RwLock::new(2u8);
    let unset: OnceLock<String> = OnceLock::new();
    let set = OnceLock::from("set".to_string());
    let lazy: LazyLock<u8> = LazyLock::new(|| 3);
    let forced: LazyLock<u8> = LazyLock::new(|| 4);
    LazyLock::force(&forced);
    let fresh = Once::new();
    let done = Once::new();
    done.call_once(|| ());
    let flag = AtomicBool::new(true);
    let number = AtomicI64::new(-5);
    locals! { "values::standard::locks" =>
        mutex, rwlock, unset, set, lazy, forced, flag, number
    }
    shown!(name, fresh, "Once {{ state: new }}");
    shown!(name, done, "Once {{ state: done }}");
    here!("values::standard::locks");
    sleep(FOREVER).await;
    used!(mutex, rwlock, unset, set, lazy, forced, fresh, done, flag, number);
}

pub async fn channels() {
    let name = "values::standard::channels";
    let (sender, receiver) = mpsc::channel();
    for n in 0..40u8 {
        sender.send(n).unwrap();
    }
    for _ in 0..5 {
        receiver.recv().unwrap();
    }
    let second = sender.clone();
    let (bounded, end) = mpsc::sync_channel(4);
    for n in 0..6u16 {
        bounded.send(n).unwrap();
        if n > 2 {
            end.recv().unwrap();
        }
    }
    let (rendezvous, meeting) = mpsc::sync_channel::<u8>(0);
    let thread = std::thread::Builder::new().name("idle".to_string());
    let thread = thread.spawn(std::thread::park).unwrap();
    shown!(name, sender, "Sender {{ queued: 35, senders: 2 }}");
    shown!(name, second, "Sender {{ queued: 35, senders: 2 }}");
    shown!(name, receiver, "Receiver {{ queued: 35, senders: 2 }}");
    shown!(name, bounded, "SyncSender {{ queued: 3 of 4, senders: 1 }}");
    shown!(name, end, "Receiver {{ queued: 3 of 4, senders: 1 }}");
    shown!(name, rendezvous, "SyncSender {{ senders: 1 }}");
    shown!(name, thread, "JoinHandle {{ thread: \"idle\", finished: false }}");
    here!("values::standard::channels");
    sleep(FOREVER).await;
    used!(sender, second, bounded, rendezvous, thread);
    let _ = (receiver.recv(), end.recv(), meeting.recv());
}

pub async fn owners() {
    let name = "values::standard::owners";
    let arc = Arc::new(1u8);
    let weak = Arc::downgrade(&arc);
    let dangling: Confined<std::rc::Weak<u8>> = Confined(Rc::downgrade(&Rc::new(2)));
    let list: LinkedList<u8> = [1, 2, 3].into_iter().collect();
    let no_list: LinkedList<String> = LinkedList::new();
    let reverse = std::cmp::Reverse(3u8);
    let bound = std::ops::Bound::Included(4u8);
    locals! { "values::standard::owners" =>
        arc, weak, list, no_list, reverse, bound
    }
    shown!(name, dangling, "Confined((Weak, dropped))");
    here!("values::standard::owners");
    sleep(FOREVER).await;
    used!(arc, weak, dangling, list, no_list, reverse, bound);
}

pub async fn errors() {
    let name = "values::standard::errors";
    let system = Error::from_raw_os_error(104);
    let kind: Error = ErrorKind::NotFound.into();
    let message = (&b"ab"[..]).read_exact(&mut [0; 4]).unwrap_err();
    let custom = Error::new(ErrorKind::InvalidData, Broken(5));
    let failed: Result<u8, Error> = Err(Error::from_raw_os_error(2));
    shown!(name, system, "Os {{ code: 104, message: \"Connection reset by peer\" }}");
    shown!(name, kind, "Kind(NotFound)");
    shown!(name, message, "SimpleMessage {{ kind: UnexpectedEof, message: \"failed to fill whole buffer\" }}");
    shown!(name, custom, "Custom {{ kind: InvalidData, error: Broken(5) }}");
    shown!(name, failed, "Err(Os {{ code: 2, message: \"No such file or directory\" }})");
    here!("values::standard::errors");
    sleep(FOREVER).await;
    used!(system, kind, message, custom, failed);
}

#[derive(Debug)]
struct Broken(u8);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl std::error::Error for Broken {}
