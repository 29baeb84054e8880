//! The Slab of the crate slab 0.4: a part of executor.elf.
#![allow(dead_code)]

pub enum Entry<T> {
    Vacant(usize),
    Occupied(T),
}
pub struct Slab<T> {
    pub entries: Vec<Entry<T>>,
    pub len: usize,
    pub next: usize,
}
