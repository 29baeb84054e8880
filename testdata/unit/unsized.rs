//! Pointers to structs with an unsized tail, for the unit tests of dwarf/values/wide_value.c. Only its debug info
//! is read: see make_shapes.sh.
#![allow(dead_code)]

use std::cell::RefCell;
use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};

pub trait Animal {
    fn name(&self) -> u64;
}
pub struct Dog {
    pub age: u8,
    pub weight: u64,
}
/// More aligned than the two counts of an Arc are long.
#[repr(align(32))]
pub struct Whale {
    pub age: u8,
}
impl Animal for Dog {
    fn name(&self) -> u64 {
        self.weight
    }
}
impl Animal for Whale {
    fn name(&self) -> u64 {
        self.age as u64
    }
}
pub struct Tail<T: ?Sized> {
    pub n: u32,
    pub tail: T,
}
/// Its slice of bytes fits into the padding, and its members are not in the order of their offsets.
pub struct Padded<T: ?Sized> {
    pub len: u8,
    pub head: u16,
    pub body: T,
}
pub struct Text(str);
pub struct Record {
    pub kind: u8,
    pub data: [u32],
}
#[repr(C, packed)]
pub struct Packed<T: ?Sized> {
    pub n: u32,
    pub tail: ManuallyDrop<T>,
}
/// Whether it is Padding or a slice of it that it ends in, the debug info does not say.
pub struct Padding {
    pub long: u64,
    pub short: u8,
    pub tail: u8,
}
pub struct Ambiguous {
    pub n: u32,
    pub list: [Padding],
}
/// No wide pointer, though its members have the names.
pub struct Named {
    pub data_ptr: *const u8,
    pub length: usize,
}

pub struct Pointers<'a> {
    pub slice: Box<Tail<[u16]>>,
    pub object: Box<Tail<dyn Animal>>,
    pub nested: &'a Tail<Tail<[u8]>>,
    pub text: Box<Tail<str>>,
    pub padded: Box<Padded<[u8]>>,
    pub record: &'a Record,
    pub bytes: &'a Text,
    pub cell: Rc<RefCell<[u32]>>,
    pub lock: Arc<Mutex<dyn Animal + Send>>,
    pub shared: Arc<dyn Animal>,
    pub read: Arc<RwLock<[u8]>>,
    pub arc_slice: Arc<[u16]>,
    pub arc_str: Arc<str>,
    pub path: &'a Path,
    pub c: &'a CStr,
    pub pinned: Pin<Box<Tail<[u16]>>>,
    pub packed: &'a Packed<dyn Animal>,
    pub ambiguous: &'a Ambiguous,
    pub plain: &'a dyn Animal,
    pub named: Named,
}

#[no_mangle]
pub fn r#unsized(p: &Pointers, d: Dog, w: Whale) -> u64 {
    let dog: &dyn Animal = &d;
    let whale: &dyn Animal = &w;
    let mut sum =
        p.slice.tail.len() + p.nested.tail.tail.len() + p.text.tail.len() + p.padded.body.len();
    sum += p.record.data.len()
        + p.bytes.0.len()
        + p.arc_slice.len()
        + p.arc_str.len()
        + p.pinned.tail.len();
    sum += p.named.length + p.ambiguous.list.len();
    sum as u64 + p.object.tail.name() + p.shared.name() + p.plain.name() + dog.name() + whale.name()
}
