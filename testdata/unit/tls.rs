//! A stream of tokio-rustls: see hyper.rs. The session has what is read of rustls.
#![allow(dead_code)]

pub enum Version {
    TLSv1_2,
    TLSv1_3,
    Unknown(u16),
}
pub struct CommonState {
    pub negotiated_version: Option<Version>,
    pub may_send_application_data: bool,
    pub may_receive_application_data: bool,
    pub has_sent_close_notify: bool,
    pub has_received_close_notify: bool,
}
pub enum NameInner {
    Borrowed(&'static str),
    Owned(u64),
}
pub struct DnsName(pub NameInner);
pub struct Data {
    pub sni: Option<DnsName>,
    pub received: u64,
}
pub struct Core {
    pub data: Data,
    pub common_state: CommonState,
}
pub struct Common {
    pub core: Core,
    pub buffered: u64,
}
pub struct Session {
    pub inner: Common,
}
pub mod server {
    pub struct TlsStream<IO> {
        pub io: IO,
        pub session: crate::Session,
        pub need_flush: bool,
    }
}

#[no_mangle]
pub fn tls(a: &mut server::TlsStream<u64>) {
    a.need_flush = true;
}
