//! Types of std for the unit tests of dwarf/show.c. Only its debug info is read: see
//! make_shapes.sh.
#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct Maps {
    pub hash: HashMap<u32, u16>,
    pub words: HashMap<String, Vec<u8>>,
    pub set: HashSet<u8>,
    pub tree: BTreeMap<u16, u8>,
    pub ordered: BTreeSet<u32>,
}
/// A list that may lead back to its beginning.
pub struct Ring<'a> {
    pub value: u8,
    pub next: Option<&'a Ring<'a>>,
}
pub struct Pointers {
    pub rc: Rc<u32>,
    pub text: Arc<str>,
    pub list: Arc<[u16]>,
    pub lock: Arc<Mutex<u8>>,
    pub object: Box<dyn Debug>,
}
pub struct Others {
    pub wait: Duration,
    pub failed: std::io::Error,
    pub address: SocketAddr,
    pub wide: (u128, i128, f32),
    pub deep: Option<Option<Option<Option<Option<Option<Option<Option<Option<u8>>>>>>>>>,
    pub nested: [[[u8; 3]; 3]; 3],
    pub range: std::ops::RangeInclusive<u8>,
}

#[no_mangle]
pub fn values(a: &mut Maps, b: &Ring, c: &Pointers, d: &Others) -> u64 {
    a.tree.insert(1, 1);
    a.ordered.insert(1);
    let text = format!("{:?}", c.object);
    text.len() as u64 + u64::from(b.value) + *c.rc as u64 + d.wait.as_secs() + a.hash.len() as u64
}
