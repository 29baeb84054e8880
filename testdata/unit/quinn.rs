//! Connections and streams of quinn: see hyper.rs. A map from the ids of streams is a table of
//! hashbrown in a HashMap of std, of which only the names of the members matter.
#![allow(dead_code)]

use std::marker::PhantomData;

pub struct StreamId(pub u64);
pub struct RawTable<T> {
    pub bucket_mask: u64,
    pub ctrl: u64,
    pub items: u64,
    pub element: PhantomData<T>,
}
pub struct Base<T> {
    pub table: RawTable<T>,
}
pub struct HashMap<T> {
    pub base: Base<T>,
}

pub mod proto {
    use super::{HashMap, StreamId};

    pub enum Side {
        Client,
        Server,
    }
    pub struct SendBuffer {
        pub unacked_len: usize,
        pub offset: u64,
    }
    pub struct Send {
        pub max_data: u64,
        pub pending: SendBuffer,
    }
    pub struct Streams {
        pub send: HashMap<(StreamId, Option<&'static Send>)>,
    }
    pub struct Path {
        pub remote: u64,
    }
    pub struct Connection {
        pub side: Side,
        pub path: Path,
        pub streams: Streams,
    }
}

pub mod mutex {
    pub struct Mutex<T> {
        pub futex: u32,
        pub value: T,
    }
}

pub mod connection {
    use super::mutex::Mutex;
    use super::{proto, HashMap, StreamId};
    use std::task::Waker;

    pub struct State {
        pub inner: proto::Connection,
        pub blocked_writers: HashMap<(StreamId, Waker)>,
        pub blocked_readers: HashMap<(StreamId, Waker)>,
        pub stopped: HashMap<(StreamId, Waker)>,
        pub error: Option<u64>,
    }
    pub struct ConnectionInner {
        pub state: Mutex<State>,
    }
    pub struct ConnectionRef(pub &'static ConnectionInner);
    pub struct ConnectionDriver(pub ConnectionRef);
}

pub mod recv_stream {
    use super::connection::ConnectionRef;
    use super::StreamId;

    pub struct RecvStream {
        pub conn: ConnectionRef,
        pub stream: StreamId,
    }
    pub struct ReadToEnd {
        pub stream: &'static mut RecvStream,
    }
}

pub mod send_stream {
    use super::connection::ConnectionRef;
    use super::StreamId;

    pub struct SendStream {
        pub conn: ConnectionRef,
        pub stream: StreamId,
    }
    pub struct WriteAll {
        pub stream: &'static mut SendStream,
    }
    pub struct Stopped {
        pub stream: &'static mut SendStream,
    }
}

#[no_mangle]
pub fn quinn(
    a: &mut recv_stream::ReadToEnd,
    b: &mut send_stream::WriteAll,
    c: &mut connection::ConnectionDriver,
    d: &mut send_stream::Stopped,
) -> u64 {
    d.stream.stream.0 = 0;
    a.stream.stream.0 + b.stream.stream.0 + c.0 .0.state.value.inner.path.remote
}
