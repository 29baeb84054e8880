//! A server of actix-web with two workers, each an Arbiter, and clients that are plain threads with a
//! connection each: the next request follows the answer to the one before. Prints `ready`, and when
//! stdin ends how many requests were answered. With `rest` as argument the clients send no more once
//! it is ready, and leave their connections open.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use actix_web::rt::time::sleep;
use actix_web::{web, App, HttpResponse, HttpServer, Responder};

const CLIENTS: usize = 16;
const ROUNDS: usize = 10;
/// How long a connection may be idle.
const KEEP: Duration = Duration::from_secs(300);

static ANSWERS: AtomicUsize = AtomicUsize::new(0);
static READY: Barrier = Barrier::new(CLIENTS + 1);

async fn hello(name: web::Path<String>) -> impl Responder {
    sleep(Duration::from_millis(2)).await;
    format!("hello {name}")
}

async fn echo(body: web::Bytes) -> impl Responder {
    HttpResponse::Ok().body(body)
}

/// A function of the blocking pool.
async fn sum(numbers: web::Path<u64>) -> impl Responder {
    let sum = web::block(move || (0..numbers.into_inner()).sum::<u64>()).await;
    sum.map(|sum| sum.to_string())
}

#[actix_web::main]
async fn serve(listener: TcpListener) -> io::Result<()> {
    let app = || {
        App::new()
            .route("/hello/{name}", web::get().to(hello))
            .route("/echo", web::post().to(echo))
            .route("/sum/{numbers}", web::get().to(sum))
    };
    HttpServer::new(app).workers(2).keep_alive(KEEP).listen(listener)?.run().await
}

/// The length of the answer's body.
fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            return Ok(length);
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
    }
}

fn request(stream: &mut BufReader<TcpStream>, text: &str) -> io::Result<()> {
    stream.get_mut().write_all(text.as_bytes())?;
    let length = read_head(stream)?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    ANSWERS.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

fn client(address: SocketAddr, number: usize, rests: bool) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address)?);
    let get = format!("GET /hello/{number} HTTP/1.1\r\nHost: x\r\n\r\n");
    let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd";
    let sum = "GET /sum/1000 HTTP/1.1\r\nHost: x\r\n\r\n";
    for round in 0.. {
        request(&mut stream, &get)?;
        request(&mut stream, post)?;
        request(&mut stream, sum)?;
        if round == ROUNDS {
            READY.wait();
            while rests {
                thread::park();
            }
        }
    }
    Ok(())
}

fn main() {
    let rests = std::env::args().nth(1).as_deref() == Some("rest");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::Builder::new().name("server".into()).spawn(|| serve(listener)).unwrap();
    for number in 0..CLIENTS {
        thread::spawn(move || client(address, number, rests).expect("a client"));
    }
    READY.wait();
    truth::say("ready");
    let mut rest = Vec::new();
    let _ = io::stdin().read_to_end(&mut rest);
    truth::say(&ANSWERS.load(Ordering::SeqCst).to_string());
    process::exit(0);
}
