//! A program that has a future of library.rs and never polls it: no unit of its crate has the poll
//! function.
extern crate library;

use std::hint::black_box;

pub struct Keeps {
    pub future: library::Wrap<u32>,
    pub unpolled: library::Wrap<u8>,
    pub plain: library::Plain<u32>,
}

#[no_mangle]
pub fn spread(keeps: &Keeps) {
    black_box(keeps);
}
