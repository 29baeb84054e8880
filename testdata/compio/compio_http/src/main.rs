//! A server of HTTP/1.1 on two runtimes of compio, one a thread, and its clients, which are threads:
//! connections that are kept, requests that wait for a timer, a lock, a thread or a body, and those
//! that stop in the middle of a request.
//!
//! Prints `ready` when each client had an answer, and the number of answers when stdin ends.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as StdStream};
use std::process;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use async_lock::Mutex;
use compio::runtime::{spawn, spawn_blocking, Runtime};
use compio_io::{AsyncRead, AsyncWriteExt};
use compio_net::{TcpListener, TcpStream};

const CLIENTS: usize = 8;
const IDLE: Duration = Duration::from_secs(60);
const PATHS: [&str; 5] = ["/", "/sleep", "/lock", "/thread", "/body"];

static ANSWERS: AtomicUsize = AtomicUsize::new(0);

type Hits = Rc<Mutex<usize>>;

/// What a request is for, and how many bytes its head and its body have.
struct Request {
    path: String,
    head: usize,
    body: usize,
}

fn parse(bytes: &[u8]) -> io::Result<Option<Request>> {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut request = httparse::Request::new(&mut headers);
    let status = request.parse(bytes).map_err(io::Error::other)?;
    let httparse::Status::Complete(head) = status else {
        return Ok(None);
    };
    let path = request.path.unwrap_or("/").to_string();
    let length = request.headers.iter().find(|header| header.name == "Content-Length");
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    Ok(Some(Request { path, head, body: length.unwrap_or(0) }))
}

/// Reads more of a connection; false: it has ended.
async fn fill(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let read = stream.read(Vec::with_capacity(1024));
    let Ok(result) = compio::time::timeout(IDLE, read).await else {
        return Ok(false);
    };
    let buffer = result.1;
    bytes.extend_from_slice(&buffer);
    Ok(result.0? > 0)
}

async fn read_request(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<Request>> {
    loop {
        if let Some(request) = parse(bytes)? {
            while bytes.len() < request.head + request.body {
                if !fill(stream, bytes).await? {
                    return Ok(None);
                }
            }
            bytes.drain(..request.head + request.body);
            return Ok(Some(request));
        }
        if !fill(stream, bytes).await? {
            return Ok(None);
        }
    }
}

async fn answer(request: &Request, hits: &Hits) -> String {
    match request.path.as_str() {
        "/sleep" => compio::time::sleep(Duration::from_millis(3)).await,
        "/lock" => {
            let mut guard = hits.lock().await;
            compio::time::sleep(Duration::from_micros(200)).await;
            *guard += 1;
        }
        "/thread" => {
            let _ = spawn_blocking(|| thread::sleep(Duration::from_millis(1))).await;
        }
        _ => {}
    }
    let body = format!("{} and {} bytes\n", request.path, request.body);
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

async fn serve(mut stream: TcpStream, hits: Hits) -> io::Result<()> {
    let mut bytes = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut bytes).await? {
        let text = answer(&request, &hits).await;
        stream.write_all(text.into_bytes()).await.0?;
    }
    Ok(())
}

async fn accept(addr: mpsc::Sender<SocketAddr>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    addr.send(listener.local_addr().unwrap()).unwrap();
    let hits = Hits::default();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let hits = hits.clone();
        spawn(async move {
            let _ = serve(stream, hits).await;
        })
        .detach();
    }
}

/// One request in pieces, and its answer.
fn ask(stream: &mut StdStream, path: &str) -> io::Result<()> {
    let body = if path == "/body" { "x".repeat(3000) } else { String::new() };
    write!(stream, "GET {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len())?;
    thread::sleep(Duration::from_millis(1));
    write!(stream, "\r\n{body}")?;
    let mut buffer = [0; 1024];
    let len = stream.read(&mut buffer)?;
    assert!(buffer[..len].starts_with(b"HTTP/1.1 200"), "an answer");
    ANSWERS.fetch_add(1, SeqCst);
    Ok(())
}

fn client(number: usize, addr: SocketAddr, ready: mpsc::Sender<()>) -> io::Result<()> {
    let mut ready = Some(ready);
    loop {
        let mut stream = StdStream::connect(addr)?;
        for round in 0..100 {
            ask(&mut stream, PATHS[(number + round) % PATHS.len()])?;
            if let Some(ready) = ready.take() {
                ready.send(()).unwrap();
            }
        }
    }
}

fn main() {
    let (ready, are_ready) = mpsc::channel();
    for server in 0..2 {
        let (send, addr) = mpsc::channel();
        let name = format!("server-{server}");
        let thread = thread::Builder::new().name(name);
        thread.spawn(move || Runtime::new().unwrap().block_on(accept(send))).unwrap();
        let addr = addr.recv().unwrap();
        for number in 0..CLIENTS {
            let ready = ready.clone();
            thread::spawn(move || client(number, addr, ready).unwrap());
        }
    }
    for _ in 0..2 * CLIENTS {
        are_ready.recv().unwrap();
    }
    println!("ready");
    let mut stdin = io::stdin().lock();
    let mut buffer = [0; 256];
    while stdin.read(&mut buffer).is_ok_and(|len| len > 0) {}
    println!("{}", ANSWERS.load(SeqCst));
    process::exit(0);
}
