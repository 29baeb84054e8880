//! Futures that poll what nobody can look into: trait objects that somebody made by hand, and some
//! whose tables of functions are copies, which no debug info describes. What else these futures wait
//! for is not all.

use std::future::Future;
use std::mem::{size_of, transmute_copy, ManuallyDrop};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use truth::tree::at;
use truth::{here, Truth, Wait, FOREVER};
use truth_tokio::Tasks;

/// An end that comes some time; no trait of futures.
trait Source: Send {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

struct Nap(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Source for Nap {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

/// A trait object of futures: what it has is only known to its functions.
struct Erased {
    data: *mut (),
    poll: unsafe fn(*mut (), &mut Context<'_>) -> Poll<()>,
    drop: unsafe fn(*mut ()),
}

unsafe impl Send for Erased {}

unsafe fn poll_erased<F: Future<Output = ()>>(data: *mut (), cx: &mut Context<'_>) -> Poll<()> {
    Pin::new_unchecked(&mut *data.cast::<F>()).poll(cx)
}

unsafe fn drop_erased<F>(data: *mut ()) {
    drop(Box::from_raw(data.cast::<F>()));
}

impl Erased {
    fn new<F: Future<Output = ()> + Send + 'static>(future: F) -> Erased {
        let data = Box::into_raw(Box::new(future)).cast();
        Erased { data, poll: poll_erased::<F>, drop: drop_erased::<F> }
    }
}

impl Source for Erased {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        unsafe { (self.poll)(self.data, cx) }
    }
}

impl Drop for Erased {
    fn drop(&mut self) {
        unsafe { (self.drop)(self.data) }
    }
}

/// The same trait object, with a copy of its table of functions.
unsafe fn disguised<T: ?Sized>(object: Box<T>) -> Box<T> {
    const WORDS: usize = 4; // drop, size, align and the only method; supertraits follow in none
    assert_eq!(size_of::<Box<T>>(), size_of::<[usize; 2]>());
    let object = ManuallyDrop::new(object);
    let [data, table]: [usize; 2] = transmute_copy(&object);
    let copy = *(table as *const [usize; WORDS]);
    let copy = Box::leak(Box::new(copy)) as *const _ as usize;
    transmute_copy(&[data, copy])
}

/// Over when it is, or when there is something to read.
struct Reads<S>(S, TcpStream);

impl<S: Source + Unpin> Future for Reads<S> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.poll_end(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut byte = [0];
        Pin::new(&mut self.1).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(drop)
    }
}

impl Source for Box<dyn Source> {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.as_mut().poll_end(cx)
    }
}

async fn nap() {
    here!("erased::nap");
    sleep(FOREVER).await;
}

async fn by_hand(stream: TcpStream) {
    here!("erased::by_hand");
    Reads(Erased::new(nap()), stream).await;
}

async fn copied(stream: TcpStream) {
    let object: Box<dyn Source> = Box::new(Nap(Box::pin(nap())));
    let object = unsafe { disguised(object) };
    here!("erased::copied");
    Reads(object, stream).await;
}

/// Has no such thing: its answer is complete.
async fn plain(stream: TcpStream) {
    here!("erased::plain");
    Reads(Nap(Box::pin(nap())), stream).await;
}

/// A connection on which nobody will ever say anything.
async fn silent() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("no port");
    let address = listener.local_addr().expect("no address");
    let near = TcpStream::connect(address).await.expect("no connection");
    std::mem::forget(listener.accept().await);
    near
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut tasks = Tasks::default();
    let readable = || Wait::new("io").with("resource", "TcpStream").with("direction", "readable");
    tasks.spawn(by_hand(silent().await), "erased::by_hand", readable());
    tasks.spawn(copied(silent().await), "erased::copied", readable());
    let tree = at("erased::plain").polls(at("erased::nap"));
    tasks.spawn_tree(plain(silent().await), tree, Some(readable()));
    Truth::new("erased")
        .runtime(truth_tokio::current("multi_thread", 2))
        .tasks(tasks.tasks)
        .block_on(&["erased::main::{async_block#0}"])
        .publish();
    here!("erased::main::{async_block#0}");
    sleep(FOREVER).await;
}
