//! A connection of hyper for the unit tests of runtimes/leaves: names and members that asyncdbg
//! reads, and nothing else. See make_shapes.sh, which makes http.elf of it.
#![allow(dead_code)]

pub enum Inner {
    Get,
    Post,
}
pub struct Method(pub Inner);
pub enum Http {
    Http10,
    Http11,
}
pub struct Version(pub Http);
pub struct ReadBuf {
    pub ptr: u64,
    pub len: u64,
    pub data: u64,
}
pub struct Io {
    pub read_buf: ReadBuf,
}

pub mod proto {
    pub mod h1 {
        pub mod conn {
            pub enum Reading {
                Init,
                Continue(u64),
                Body(u64),
                KeepAlive,
                Closed,
            }
            pub enum Writing {
                Init,
                Body(u64),
                KeepAlive,
                Closed,
            }
            pub enum KA {
                Idle,
                Busy,
                Disabled,
            }
            pub struct State {
                pub reading: Reading,
                pub writing: Writing,
                pub keep_alive: KA,
                pub method: Option<crate::Method>,
                pub version: crate::Version,
            }
            pub struct Conn {
                pub io: crate::Io,
                pub state: State,
            }
        }
        pub mod dispatch {
            pub struct Server<F> {
                pub in_flight: Option<F>,
            }
            pub struct Client<F> {
                pub callback: Option<F>,
            }
            pub struct Dispatcher<D> {
                pub conn: super::conn::Conn,
                pub dispatch: D,
                pub is_closing: bool,
            }
        }
    }
}

use proto::h1::dispatch::{Client, Dispatcher, Server};

#[no_mangle]
pub fn hyper(a: &mut Dispatcher<Server<u64>>, b: &mut Dispatcher<Client<u64>>) {
    a.is_closing = true;
    b.is_closing = true;
}
