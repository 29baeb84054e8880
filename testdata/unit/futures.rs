//! Futures for the unit tests of runtimes/. Its crate is named tokio, and its types have the names
//! and the members of tokio that asyncdbg reads, and nothing else. Only its debug info is read: see
//! make_shapes.sh.
#![allow(dead_code)]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

macro_rules! future {
    ($($type:ty),*) => {
        $(impl Future for $type {
            type Output = ();
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
                Poll::Pending
            }
        })*
    };
}

pub mod sync {
    pub mod batch_semaphore {
        use std::ptr::NonNull;
        use std::task::Waker;

        pub struct Pointers {
            pub prev: Option<NonNull<Waiter>>,
            pub next: Option<NonNull<Waiter>>,
        }
        pub struct Waiter {
            pub state: usize,
            pub waker: Option<Waker>,
            pub pointers: Pointers,
        }
        pub struct Queue {
            pub head: Option<NonNull<Waiter>>,
            pub tail: Option<NonNull<Waiter>>,
        }
        pub struct Waitlist {
            pub queue: Queue,
            pub closed: bool,
        }
        pub struct Semaphore {
            pub permits: usize,
            pub waiters: Waitlist,
        }
        pub struct Acquire {
            pub node: Waiter,
            pub semaphore: &'static Semaphore,
            pub num_permits: usize,
            pub queued: bool,
        }
        impl Semaphore {
            pub fn acquire(&'static self, num_permits: usize) -> Acquire {
                let pointers = Pointers { prev: None, next: None };
                let node = Waiter { state: num_permits, waker: None, pointers };
                Acquire { node, semaphore: self, num_permits, queued: false }
            }
        }
    }
    pub mod mutex {
        use super::batch_semaphore::Semaphore;

        #[repr(C)]
        pub struct Mutex {
            pub c: u32,
            pub s: Semaphore,
        }
        impl Mutex {
            pub async fn acquire(&'static self) {
                self.s.acquire(1).await
            }
        }
    }
    pub mod rwlock {
        use super::batch_semaphore::Semaphore;

        pub struct RwLock {
            pub mr: u32,
            pub s: Semaphore,
        }
        impl RwLock {
            pub async fn read(&'static self) {
                self.s.acquire(1).await
            }
            pub async fn write(&'static self) {
                self.s.acquire(self.mr as usize).await
            }
        }
    }
    pub mod notify {
        use std::ptr::NonNull;
        use std::task::Waker;

        pub struct Pointers {
            pub prev: Option<NonNull<Waiter>>,
            pub next: Option<NonNull<Waiter>>,
        }
        pub struct Waiter {
            pub pointers: Pointers,
            pub waker: Option<Waker>,
            pub notification: usize,
        }
        pub struct Queue {
            pub head: Option<NonNull<Waiter>>,
            pub tail: Option<NonNull<Waiter>>,
        }
        pub struct Notify {
            pub waiters: Queue,
        }
        pub struct Notified {
            pub notify: &'static Notify,
            pub waiter: Waiter,
        }
        impl Notify {
            pub fn notified(&'static self) -> Notified {
                let pointers = Pointers { prev: None, next: None };
                let waiter = Waiter { pointers, waker: None, notification: 0 };
                Notified { notify: self, waiter }
            }
        }
    }
    pub mod mpsc {
        pub mod chan {
            use crate::sync::mpsc::bounded::Semaphore;
            use crate::sync::notify::Notify;
            use std::task::{Poll, Waker};

            pub struct TxList {
                pub tail_position: usize,
            }
            pub struct RxList {
                pub index: usize,
            }
            pub struct RxFields {
                pub list: RxList,
                pub rx_closed: bool,
            }
            pub struct Chan {
                pub tx: TxList,
                pub rx_fields: RxFields,
                pub tx_count: usize,
                pub rx_waker: Option<Waker>,
                pub semaphore: Semaphore,
                pub notify_rx_closed: Notify,
            }
            pub struct Tx {
                pub inner: &'static Chan,
            }
            pub struct Rx {
                pub inner: &'static Chan,
            }
            impl Rx {
                pub fn recv(&mut self) -> Poll<()> {
                    Poll::Pending
                }
            }
            impl Tx {
                pub async fn closed(&'static self) {
                    self.inner.notify_rx_closed.notified().await
                }
            }
        }
        pub mod bounded {
            use super::chan::{Rx, Tx};
            use crate::sync::batch_semaphore;
            use std::future::poll_fn;

            pub struct Semaphore {
                pub semaphore: batch_semaphore::Semaphore,
                pub bound: usize,
            }
            pub struct Sender {
                pub chan: Tx,
            }
            pub struct Receiver {
                pub chan: Rx,
            }
            impl Sender {
                pub async fn reserve(&'static self) {
                    self.chan.inner.semaphore.semaphore.acquire(1).await
                }
            }
            impl Receiver {
                pub async fn recv(&'static mut self) {
                    poll_fn(|_| self.chan.recv()).await
                }
            }
        }
    }
    pub mod oneshot {
        use std::task::Waker;

        pub struct Inner {
            pub state: usize,
            pub value: Option<u32>,
            pub tx_task: Option<Waker>,
            pub rx_task: Option<Waker>,
        }
        pub struct Receiver {
            pub inner: Option<&'static Inner>,
        }
    }
}

pub mod time {
    pub mod sleep {
        pub struct Sleep {
            pub deadline: std::time::Instant,
            pub timer: Option<u64>,
        }
    }
}

pub mod runtime {
    pub mod context {
        use super::scheduler::Handle;

        pub struct Current {
            pub handle: Option<Handle>,
        }
        pub struct Context {
            pub current: Current,
            pub current_task_id: Option<u64>,
        }
        thread_local! {
            pub static CONTEXT: Context =
                const { Context { current: Current { handle: None }, current_task_id: None } };
        }
    }
    pub mod scheduler {
        pub struct ArcInner<T> {
            pub strong: usize,
            pub data: T,
        }
        pub enum Handle {
            CurrentThread(&'static ArcInner<current_thread::Handle>),
            MultiThread(&'static ArcInner<multi_thread::Handle>),
        }
        pub mod current_thread {
            use crate::runtime::task::list::OwnedTasks;

            pub struct Shared {
                pub owned: OwnedTasks,
            }
            pub struct Handle {
                pub shared: Shared,
            }
        }
        pub mod multi_thread {
            use crate::runtime::task::list::ShardedTasks;

            pub struct Shared {
                pub owned: ShardedTasks,
            }
            pub struct Handle {
                pub shared: Shared,
            }
        }
    }
    pub mod task {
        pub mod list {
            use super::core::Header;
            use std::ptr::NonNull;

            pub struct List {
                pub head: Option<NonNull<Header>>,
                pub tail: Option<NonNull<Header>>,
            }
            pub struct Counted {
                pub list: List,
                pub count: usize,
            }
            pub struct Inner {
                pub list: Counted,
                pub closed: bool,
            }
            pub struct OwnedTasks {
                pub inner: Inner,
                pub id: u64,
            }
            pub struct Sharded {
                pub lists: &'static [List],
                pub count: usize,
            }
            pub struct ShardedTasks {
                pub list: Sharded,
                pub id: u64,
                pub closed: bool,
            }
        }
        pub mod core {
            use std::ptr::NonNull;

            pub struct State {
                pub val: usize,
            }
            pub struct Vtable {
                pub poll: unsafe fn(NonNull<Header>),
                pub trailer_offset: usize,
                pub scheduler_offset: usize,
                pub id_offset: usize,
            }
            pub struct Header {
                pub state: State,
                pub vtable: &'static Vtable,
                pub owner_id: u64,
            }
            pub struct Pointers {
                pub prev: Option<NonNull<Header>>,
                pub next: Option<NonNull<Header>>,
            }
            pub struct Trailer {
                pub owned: Pointers,
            }
            pub enum Stage<T> {
                Running(T),
                Finished(u32),
                Consumed,
            }
            #[repr(C)]
            pub struct Core<T, S> {
                pub scheduler: S,
                pub task_id: u64,
                pub stage: Stage<T>,
            }
            #[repr(C)]
            pub struct Cell<T, S> {
                pub header: Header,
                pub core: Core<T, S>,
                pub trailer: Trailer,
            }
        }
        pub mod harness {
            pub struct Harness<T, S> {
                pub cell: std::ptr::NonNull<super::core::Cell<T, S>>,
            }
        }
        pub mod raw {
            use super::core::{Header, Stage};
            use super::harness::Harness;
            use std::future::Future;
            use std::pin::Pin;
            use std::ptr::NonNull;
            use std::task::Context;

            pub struct RawTask {
                pub ptr: NonNull<Header>,
            }
            pub unsafe fn poll<T: Future, S>(ptr: NonNull<Header>) {
                let mut harness = Harness::<T, S> { cell: ptr.cast() };
                if let Stage::Running(future) = &mut harness.cell.as_mut().core.stage {
                    let mut cx = Context::from_waker(std::task::Waker::noop());
                    let _ = Pin::new_unchecked(future).poll(&mut cx);
                }
            }
        }
        pub mod join {
            pub struct JoinHandle {
                pub raw: super::raw::RawTask,
            }
        }
    }
}

pub struct Wrapper {
    pub receiver: sync::oneshot::Receiver,
    pub number: u64,
}
pub struct Both {
    pub first: sync::oneshot::Receiver,
    pub second: sync::batch_semaphore::Acquire,
}
pub enum Stage {
    Begin { receiver: sync::oneshot::Receiver },
    End { permit: sync::batch_semaphore::Acquire },
}
pub struct Ring {
    pub next: Option<Pin<Box<Ring>>>,
}
pub struct Children {
    pub optional: Option<Wrapper>,
    pub many: Vec<Wrapper>,
    pub object: Pin<Box<dyn Future<Output = ()>>>,
    pub own: Pin<Box<Ring>>,
}
future!(
    sync::oneshot::Receiver,
    sync::batch_semaphore::Acquire,
    sync::notify::Notified,
    runtime::task::join::JoinHandle,
    time::sleep::Sleep,
    Wrapper,
    Both,
    Stage,
    Ring,
    Children
);

pub async fn outer(receiver: sync::oneshot::Receiver, number: u32) -> u32 {
    receiver.await;
    number
}

#[no_mangle]
pub fn futures(a: &mut Children, b: Both, c: &mut Stage, d: &mut time::sleep::Sleep, cx: &mut Context<'_>) {
    let mut called = Box::pin(outer(b.first, 1));
    black_box(called.as_mut().poll(cx).is_ready());
    black_box(a.object.as_mut().poll(cx).is_ready());
    black_box(a.own.as_mut().poll(cx).is_ready());
    for each in [&mut a.many[0], a.optional.as_mut().unwrap()] {
        black_box(Pin::new(each).poll(cx).is_ready());
    }
    black_box(Pin::new(c).poll(cx).is_ready());
    black_box(Pin::new(d).poll(cx).is_ready());
    black_box(b.second.queued);
}

pub fn poll(future: impl Future, cx: &mut Context<'_>) {
    let mut future = Box::pin(future);
    black_box(future.as_mut().poll(cx).is_ready());
}

#[no_mangle]
pub fn locks(a: &'static sync::mutex::Mutex, b: &'static sync::rwlock::RwLock, cx: &mut Context<'_>) {
    poll(a.acquire(), cx);
    poll(b.read(), cx);
    poll(b.write(), cx);
}

#[no_mangle]
pub fn channels(
    tx: &'static sync::mpsc::bounded::Sender,
    rx: &'static mut sync::mpsc::bounded::Receiver,
    cx: &mut Context<'_>,
) {
    poll(tx.reserve(), cx);
    poll(tx.chan.closed(), cx);
    poll(rx.recv(), cx);
}

#[no_mangle]
pub fn tasks(a: runtime::task::join::JoinHandle, cx: &mut Context<'_>) -> bool {
    use runtime::task::{core::Vtable, raw};
    type Scheduler = &'static runtime::scheduler::ArcInner<runtime::scheduler::multi_thread::Handle>;

    poll(a, cx);
    let poll = raw::poll::<sync::oneshot::Receiver, Scheduler>;
    black_box(Vtable { poll, trailer_offset: 64, scheduler_offset: 24, id_offset: 32 });
    runtime::context::CONTEXT.with(|c| match &c.current.handle {
        Some(runtime::scheduler::Handle::CurrentThread(h)) => h.data.shared.owned.inner.closed,
        Some(runtime::scheduler::Handle::MultiThread(h)) => h.data.shared.owned.closed,
        None => false,
    })
}
