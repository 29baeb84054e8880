//! Requests of the crate http, as a service of hyper has them: see hyper.rs.
#![allow(dead_code)]

extern crate hyper;

use hyper::proto::h1::dispatch::{Dispatcher, Server};

/// bytes::Bytes.
pub struct Bytes {
    pub ptr: u64,
    pub len: u64,
    pub data: u64,
}
pub struct PathAndQuery {
    pub data: Data,
    pub query: u16,
}
pub struct Data {
    pub bytes: Bytes,
}
pub struct Uri {
    pub path_and_query: PathAndQuery,
}
pub struct HeaderValue {
    pub inner: Bytes,
    pub is_sensitive: bool,
}
pub struct Bucket {
    pub hash: u16,
    pub value: HeaderValue,
}
pub struct HeaderMap {
    pub entries: &'static [Bucket],
    pub mask: u16,
}

pub mod request {
    pub struct Parts {
        pub uri: super::Uri,
        pub headers: super::HeaderMap,
    }
}

/// The future of a service.
pub struct Service {
    pub parts: request::Parts,
}

#[no_mangle]
pub fn requests(a: &mut Dispatcher<Server<Service>>) {
    a.is_closing = true;
}
