//! Shapes of data for the unit tests of dwarf/ and runtimes/. Only its debug info is read: it is
//! never run. See make_shapes.sh.
#![allow(dead_code)]

use std::cell::{Cell, RefCell, UnsafeCell};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

#[repr(u8)]
pub enum TaggedU8 {
    Small(u8) = 3,
    Large { x: u32 } = 200,
    Empty = 255,
}
#[repr(i8)]
pub enum TaggedI8 {
    Negative(u8) = -3,
    Positive(u8) = 4,
}
#[repr(u16)]
pub enum TaggedU16 {
    Low(u8) = 1,
    High(u16) = 0xfffe,
}
#[repr(u32)]
pub enum TaggedU32 {
    Low(u8) = 1,
    High(u32) = 0xffff_fffe,
}
#[repr(i64)]
pub enum TaggedI64 {
    Lowest(u8) = i64::MIN,
    Minus(u8) = -1,
}
#[repr(u64)]
pub enum TaggedU64 {
    Low(u8) = 0,
    High(u8) = u64::MAX,
}
#[repr(i8)]
#[derive(Clone, Copy)]
pub enum CLike {
    Minus = -1,
    Zero,
    Most = 127,
}
pub enum Single {
    Only(u32),
}
pub enum Never {}
/// bool leaves 254 values for the others.
pub enum Niche {
    Flag(bool),
    Red,
    Green,
    Blue,
}

pub struct Inner {
    pub deep: u64,
    pub pad: u32,
}
pub struct Root {
    pub first: u32,
    pub newer: Inner,
    pub pair: (u16, u32),
    pub wrapped: Wrapped,
    pub list: *const Node,
    pub maybe: Option<&'static Inner>,
    pub choice: TaggedU8,
    pub items: Box<[Inner]>,
}
/// One member that has a size at each level.
pub struct Wrapped(UnsafeCell<Atomic>, ());
pub struct Atomic {
    v: AtomicUsize,
    marker: PhantomData<u64>,
}
pub struct Node {
    pub next: Option<NonNull<Node>>,
    pub value: u64,
}
/// A pointer with nothing else: looking through it never ends.
pub struct Loop {
    pub me: *const Loop,
}
pub struct Shared {
    pub state: Arc<Mutex<RefCell<Inner>>>,
}
pub struct Zst {
    pub before: (),
    pub value: NonZeroU32,
    pub after: PhantomData<String>,
    pub none: [u64; 0],
}
pub struct Named {
    pub owned: String,
    pub boxed: Box<str>,
    pub borrowed: &'static str,
    pub cell: Cell<i32>,
    pub uninit: MaybeUninit<u16>,
    pub real: f64,
    pub letter: char,
    pub callback: fn(u32) -> u32,
}
/// T of the wrapper is not T of the Vec in it.
pub struct Holder<T> {
    pub items: Vec<u16>,
    pub mark: PhantomData<T>,
}
pub struct Lists {
    pub slice: &'static [u32],
    pub boxed: Box<[u64]>,
    pub vec: Vec<u16>,
    pub held: Holder<u64>,
    pub deque: VecDeque<u8>,
    pub array: [u32; 7],
}
pub union Overlay {
    pub word: u32,
    pub bytes: [u8; 4],
}
pub struct Niches {
    pub reference: Option<&'static u64>,
    pub non_null: Option<NonNull<u64>>,
    pub twice: Option<Option<bool>>,
    pub ordering: Option<Ordering>,
    pub many: Niche,
    pub certain: Result<u32, Never>,
}

/// A context as tokio has one, and a lazy one.
pub mod context {
    use std::cell::Cell;
    thread_local! {
        pub static CONTEXT: Cell<u64> = const { Cell::new(7) };
        pub static LAZY: String = String::new();
    }
}

/// A future that somebody wrote by hand.
pub struct Ready(pub u32);
impl Future for Ready {
    type Output = u32;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        Poll::Ready(self.0)
    }
}

pub async fn leaf(n: u32) -> u32 {
    Ready(n).await
}
pub async fn middle(name: String) -> usize {
    let a = leaf(1).await;
    let b = leaf(a).await;
    name.len() + b as usize
}

/// Like tokio's raw::poll: its parameters say which future a task holds.
#[inline(never)]
pub fn poll_task<T: Future, S>(future: Pin<&mut T>, cx: &mut Context<'_>, scheduler: S) -> bool {
    let harness = (&scheduler, 1u8);
    harness.1 == 1 && future.poll(cx).is_ready()
}

#[no_mangle]
pub fn boxed(cx: &mut Context<'_>) -> bool {
    let mut first: Pin<Box<dyn Future<Output = u32>>> = Box::pin(leaf(1));
    let mut second: Pin<Box<dyn Future<Output = u32> + Send>> = Box::pin(Ready(2));
    let mut third = std::pin::pin!(middle(String::new()));
    context::CONTEXT.with(|c| c.set(1));
    context::LAZY.with(|s| s.len());
    first.as_mut().poll(cx).is_ready()
        && second.as_mut().poll(cx).is_ready()
        && poll_task(third.as_mut(), cx, 5u64)
}

#[no_mangle]
pub fn integers(a: &TaggedU8, b: &TaggedI8, c: &TaggedU16, d: &TaggedU32, e: &TaggedI64) -> bool {
    matches!(a, TaggedU8::Empty)
        && matches!(b, TaggedI8::Negative(_))
        && matches!(c, TaggedU16::Low(_))
        && matches!(d, TaggedU32::Low(_))
        && matches!(e, TaggedI64::Minus(_))
}

#[no_mangle]
pub fn structs(a: &Root, b: &Loop, c: &Shared, d: &Zst, e: &Named, f: &Lists) -> u64 {
    let fits = b.me.is_null() && d.value.get() == 1 && f.slice.is_empty();
    a.newer.deep + c.state.lock().map_or(0, |s| s.borrow().deep) + e.owned.len() as u64 + fits as u64
}

#[no_mangle]
pub fn enums(a: &Niches, b: &TaggedU64, c: CLike, d: &Single, e: Overlay, f: Ordering) -> bool {
    let Single::Only(n) = d;
    matches!(b, TaggedU64::High(_))
        && a.reference.is_some()
        && c as i8 == -1
        && *n == 1
        && unsafe { e.word } == 1
        && f == Ordering::Less
}
