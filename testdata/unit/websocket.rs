//! A stream of tokio-tungstenite: see hyper.rs.
#![allow(dead_code)]

use std::task::Waker;

pub enum Role {
    Server,
    Client,
}
pub enum State {
    Active,
    ClosedByUs,
    ClosedByPeer,
}
pub struct Buffer {
    pub len: usize,
    pub cap: usize,
}
pub struct Frame {
    pub out_buffer: Buffer,
    pub max_out_buffer_len: usize,
}
pub struct Context {
    pub role: Role,
    pub frame: Frame,
    pub state: State,
}
pub struct WebSocket<S> {
    pub socket: S,
    pub context: Context,
}
pub struct WebSocketStream<S> {
    pub inner: WebSocket<compat::AllowStd<S>>,
    pub closing: bool,
}
pub struct AtomicWaker {
    pub state: usize,
    pub waker: Option<Waker>,
}
pub struct WakerProxy {
    pub read_waker: AtomicWaker,
    pub write_waker: AtomicWaker,
}
pub mod compat {
    pub struct AllowStd<S> {
        pub inner: S,
        pub write_waker_proxy: &'static crate::WakerProxy,
        pub read_waker_proxy: &'static crate::WakerProxy,
    }
}

#[no_mangle]
pub fn websocket(a: &mut WebSocketStream<u64>) {
    a.closing = true;
}
