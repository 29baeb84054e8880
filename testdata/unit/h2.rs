//! Streams of h2: see hyper.rs.
#![allow(dead_code)]

pub mod proto {
    pub mod streams {
        pub mod stream {
            use std::task::Waker;

            pub struct StreamId(pub u32);
            pub struct Window(pub i32);
            pub struct FlowControl {
                pub window_size: Window,
            }
            pub enum Peer {
                AwaitingHeaders,
                Streaming,
            }
            pub enum Inner {
                Idle,
                Open { local: Peer, remote: Peer },
                HalfClosedLocal(Peer),
                Closed(u64),
            }
            pub struct State {
                pub inner: Inner,
            }
            pub struct Stream {
                pub id: StreamId,
                pub state: State,
                pub send_flow: FlowControl,
                pub buffered_send_data: usize,
                pub is_pending_open: bool,
                pub send_task: Option<Waker>,
                pub recv_task: Option<Waker>,
            }
        }
        pub mod streams {
            use super::stream::{FlowControl, Stream, StreamId};

            pub struct Counts {
                pub num_send_streams: usize,
                pub num_recv_streams: usize,
            }
            pub struct Prioritize {
                pub flow: FlowControl,
            }
            pub struct Send {
                pub prioritize: Prioritize,
            }
            pub struct Actions {
                pub send: Send,
                pub conn_error: u64,
            }
            pub enum Entry {
                Vacant(usize),
                Occupied(Stream),
            }
            pub struct Slab {
                pub entries: &'static [Entry],
                pub len: usize,
            }
            pub struct Store {
                pub slab: Slab,
            }
            pub struct Inner {
                pub counts: Counts,
                pub actions: Actions,
                pub store: Store,
            }
            pub struct SlabIndex(pub u32);
            pub struct Key {
                pub index: SlabIndex,
                pub stream_id: StreamId,
            }
            pub struct OpaqueStreamRef {
                pub inner: &'static Inner,
                pub key: Key,
            }
            pub struct Streams {
                pub inner: &'static Inner,
                pub send_buffer: u64,
            }
        }
    }
    pub struct ConnectionInner {
        pub streams: streams::streams::Streams,
        pub state: u64,
    }
    pub struct Connection {
        pub codec: u64,
        pub inner: ConnectionInner,
    }
}
pub mod client {
    pub struct ResponseFuture {
        pub inner: crate::proto::streams::streams::OpaqueStreamRef,
        pub push_promise_consumed: bool,
    }
    pub struct Connection {
        pub inner: crate::proto::Connection,
    }
}
pub mod share {
    pub struct SendStream {
        pub inner: StreamRef,
    }
    pub struct StreamRef {
        pub opaque: crate::proto::streams::streams::OpaqueStreamRef,
        pub send_buffer: u64,
    }
}

#[no_mangle]
pub fn h2(a: &mut client::ResponseFuture, b: &mut client::Connection, c: &mut share::SendStream) {
    a.push_promise_consumed = true;
    b.inner.codec = 1;
    c.inner.send_buffer = 1;
}
