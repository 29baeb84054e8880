//! A server of tide, which runs on async-std, and clients of its own that keep their connections:
//! each sends a request when it has the answer to the one before. Prints `ready` and how many
//! clients there are, and ends when stdin does.

use std::io::{self, Read as _};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use async_std::io::BufReader;
use async_std::net::{SocketAddr, TcpListener, TcpStream};
use async_std::prelude::*;
use async_std::task;
use tide::{Request, Response};

const CLIENTS: usize = 16;

static ANSWERS: AtomicUsize = AtomicUsize::new(0);

async fn hello(request: Request<()>) -> tide::Result {
    let name = request.param("name")?.to_string();
    task::sleep(Duration::from_millis(2)).await;
    Ok(Response::builder(200).body(format!("hello {name}")).build())
}

async fn echo(mut request: Request<()>) -> tide::Result {
    let body = request.body_string().await?;
    Ok(Response::builder(200).body(body).build())
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    let mut app = tide::new();
    app.at("/hello/:name").get(hello);
    app.at("/echo").post(echo);
    app.listen(listener).await
}

/// The length of the answer's body.
async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
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

async fn request(stream: &mut BufReader<TcpStream>, text: &str) -> io::Result<()> {
    stream.get_mut().write_all(text.as_bytes()).await?;
    let length = read_head(stream).await?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    ANSWERS.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

async fn client(address: SocketAddr, number: usize) -> io::Result<()> {
    let mut stream = BufReader::new(TcpStream::connect(address).await?);
    let get = format!("GET /hello/{number} HTTP/1.1\r\nHost: x\r\n\r\n");
    let post = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd";
    loop {
        request(&mut stream, &get).await?;
        request(&mut stream, post).await?;
    }
}

fn main() {
    let listener = task::block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    task::spawn(serve(listener));
    for number in 0..CLIENTS {
        task::spawn(client(address, number));
    }
    while ANSWERS.load(Ordering::SeqCst) < 10 * CLIENTS {
        thread::sleep(Duration::from_millis(1));
    }
    truth::say("ready");
    truth::say(&format!("{{\"clients\":{CLIENTS}}}"));
    let mut rest = Vec::new();
    let _ = io::stdin().read_to_end(&mut rest);
    process::exit(0);
}
