//! Values that own guards, sockets and ends of channels, for the unit tests of runtimes/ownership.
//! Linked with futures.rs (make_shapes.sh), whose crate is named tokio.
#![allow(dead_code)]

extern crate tokio;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::future::Future;
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Context;
use tokio::sync::batch_semaphore::Acquire;
use tokio::sync::notify::Notify;
use tokio::sync::oneshot::Receiver;

pub type Guard = MutexGuard<'static, u32>;

pub struct Pair {
    pub first: Guard,
    pub number: u64,
    pub second: Guard,
}
pub struct Tuple(pub Guard, pub u64);
pub enum Place {
    Empty(u64),
    Held(u64, Guard),
    Named { guard: Guard, number: u64 },
}
pub union Hidden<T> {
    pub guard: ManuallyDrop<T>,
    pub number: u64,
}
pub struct Chain {
    pub guard: Option<Guard>,
    pub next: Option<Box<Chain>>,
}
pub trait Keeper {
    fn number(&self) -> u64;
}
impl Keeper for Pair {
    fn number(&self) -> u64 {
        self.number
    }
}
pub struct Tail<T: ?Sized> {
    pub guard: Option<Guard>,
    pub tail: T,
}
/// A name that is no number of a tuple's member.
pub struct Named {
    pub __kept: Guard,
}
pub struct Socket {
    pub number: u64,
    pub stream: TcpStream,
}
/// Has a lock and a socket.
pub struct Both {
    pub guard: Option<Guard>,
    pub stream: TcpStream,
}

pub struct Values {
    pub number: u64,
    pub pair: Pair,
    pub tuple: Tuple,
    pub named: Named,
    pub place: Place,
    pub list: Vec<Option<Guard>>,
    pub array: [Guard; 3],
    pub numbers: Vec<u64>,
    pub boxed: Box<Pair>,
    pub slice: Box<[Guard]>,
    pub object: Box<dyn Keeper>,
    pub tail: Box<Tail<[Guard]>>,
    pub tail_object: Box<Tail<dyn Keeper>>,
    pub chain: Chain,
    pub deque: VecDeque<Guard>,
    pub map: BTreeMap<u32, Guard>,
    pub borrowed: &'static Pair,
    pub borrowed_slice: &'static [Guard],
    pub notify: &'static Notify,
    pub shared_notify: Arc<Notify>,
    pub shared: Arc<Pair>,
    pub counted: Rc<Pair>,
    pub both: Both,
    pub shared_both: Arc<Both>,
    pub socket: Socket,
    pub shared_socket: Arc<Socket>,
    pub shared_list: Arc<Vec<TcpStream>>,
    pub file: File,
    pub acquire: Acquire,
    pub hidden: Hidden<Guard>,
}

/// What the awaitee borrows is not owned by it.
async fn keeps(guard: Guard, own: &'static mut Receiver) {
    own.await;
    black_box(&guard);
}
async fn calls(guard: Guard, inner: Guard, own: &'static mut Receiver) {
    keeps(inner, own).await;
    black_box(&guard);
}
/// Its awaitee is in a variable.
async fn pins(guard: Guard, own: &'static mut Receiver) {
    let mut kept = Box::pin(keeps(guard, own));
    kept.as_mut().await;
    black_box(&kept);
}
/// Two variables of its own.
async fn has(lock: &'static Mutex<u32>, own: &'static mut Receiver) {
    let first = lock.lock().unwrap();
    let second = lock.lock().unwrap();
    own.await;
    black_box((&first, &second));
}
async fn uses(guard: &Guard, own: &'static mut Receiver) {
    own.await;
    black_box(guard);
}
/// The awaitee borrows its variable.
async fn lends(number: u64, guard: Guard, own: &'static mut Receiver) {
    uses(&guard, own).await;
    black_box((&number, &guard));
}

fn poll(future: impl Future<Output = ()>, cx: &mut Context<'_>) {
    black_box(Box::pin(future).as_mut().poll(cx).is_ready());
}

#[no_mangle]
pub fn owned(values: &Values, pair: Tail<Pair>, lock: &'static Mutex<u32>, guards: [Guard; 4], own: [&'static mut Receiver; 4], cx: &mut Context<'_>) {
    let object: &Tail<dyn Keeper> = &pair;
    let sized: &dyn Keeper = &pair.tail;
    black_box(object.tail.number() + sized.number());
    black_box(values.object.number() + values.tail_object.tail.number());
    black_box(values.number);
    let ([a, b, c, d], [first, second, third, fourth]) = (guards, own);
    poll(calls(a, b, first), cx);
    poll(pins(c, second), cx);
    poll(has(lock, third), cx);
    poll(lends(values.number, d, fourth), cx);
}
