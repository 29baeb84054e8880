//! Collections of futures for the unit tests of runtimes/future. Only its debug info is read: see
//! make_shapes.sh.
#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};

pub struct Leaf {
    pub number: u64,
}
impl Future for Leaf {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        black_box(Poll::Pending)
    }
}

pub struct Owner {
    pub deque: VecDeque<Leaf>,
    pub list: LinkedList<Leaf>,
    pub map: HashMap<u64, Leaf>,
    pub tree: BTreeMap<u64, Leaf>,
    pub vec: Vec<Leaf>,
    pub deque_of_numbers: VecDeque<u64>,
    pub map_of_numbers: HashMap<u64, u64>,
    pub tree_of_numbers: BTreeMap<u64, u64>,
}

#[no_mangle]
pub fn held(owner: &mut Owner, cx: &mut Context<'_>) {
    if let Some(first) = owner.deque.front_mut() {
        let _ = Pin::new(first).poll(cx);
    }
    black_box(owner);
}
