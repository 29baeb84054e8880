//! As much of a PostgreSQL server as it takes to have connections and transactions: it lets
//! everybody in and does nothing else.

use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// AuthenticationOk.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0";
/// ReadyForQuery, outside of a transaction and in one.
const READY: &[u8] = b"Z\0\0\0\x05I";
const READY_INSIDE: &[u8] = b"Z\0\0\0\x05T";
/// CommandComplete.
const DONE: &[u8] = b"C\0\0\0\x07OK\0";

/// The body of a message whose length comes next.
fn read_body(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4)];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn serve(mut stream: TcpStream) -> Result<()> {
    read_body(&mut stream)?;
    stream.write_all(&[WELCOME, READY].concat())?;
    loop {
        let mut kind = [0];
        stream.read_exact(&mut kind)?;
        let body = read_body(&mut stream)?;
        match &kind {
            b"Q" if body.starts_with(b"BEGIN") => {
                stream.write_all(&[DONE, READY_INSIDE].concat())?
            }
            b"Q" => stream.write_all(&[DONE, READY].concat())?,
            b"S" => stream.write_all(READY)?,
            _ => (),
        }
    }
}

/// The port of a server that runs in threads of its own.
pub fn start() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("no port");
    let port = listener.local_addr().expect("no address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away ends its thread.
            thread::spawn(move || serve(stream));
        }
    });
    port
}
