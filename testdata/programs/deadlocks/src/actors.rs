//! Tasks that look lost and are not: what wakes them is polled where no type tells it.

use std::collections::HashMap;
#[cfg(feature = "since_1_28")]
use std::future::poll_fn;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tokio::sync::mpsc::{self, Receiver, Sender};
use truth::tree::{at, Node};
use truth::{here, Task, Wait};

use crate::Tasks;

type Handler = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Of whoever shuts the program down.
static STOP: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

async fn handle(replies: Sender<u32>) {
    here!("deadlocks::actors::handle");
    crate::nap().await;
    let _ = replies.send(1).await;
}

/// Polls handlers that reply to its own inbox.
struct Dispatcher {
    handlers: HashMap<u32, Handler>,
    inbox: Receiver<u32>,
    polls: u64,
}

impl Future for Dispatcher {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        self.polls += 1;
        for handler in self.handlers.values_mut() {
            let _ = handler.as_mut().poll(cx);
        }
        self.inbox.poll_recv(cx)
    }
}

/// Ends when the program is shut down.
struct Server {
    inbox: Receiver<u32>,
    #[allow(dead_code)]
    clients: Sender<u32>,
    polls: u64,
}

impl Future for Server {
    type Output = Option<u32>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        self.polls += 1;
        STOP.lock().unwrap().push(cx.waker().clone());
        self.inbox.poll_recv(cx)
    }
}

async fn dispatch(replies: Sender<u32>, inbox: Receiver<u32>) {
    let mut handlers: HashMap<u32, Handler> = HashMap::new();
    handlers.insert(1, Box::pin(handle(replies)));
    here!("deadlocks::actors::dispatch");
    Dispatcher { handlers, inbox, polls: 0 }.await;
}

async fn serve(clients: Sender<u32>, inbox: Receiver<u32>) {
    here!("deadlocks::actors::serve");
    Server { inbox, clients, polls: 0 }.await;
}

#[cfg(feature = "since_1_28")]
async fn by_closure(clients: Sender<u32>, mut inbox: Receiver<u32>) {
    let closure = poll_fn(|cx| {
        STOP.lock().unwrap().push(cx.waker().clone());
        inbox.poll_recv(cx)
    });
    here!("deadlocks::actors::by_closure");
    closure.await;
    drop(clients);
}

fn spawn<F>(tasks: &mut Tasks, tree: Node, start: fn(Sender<u32>, Receiver<u32>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(1);
    let wait = Wait::new("mpsc_recv").with("senders", 1).with("queued", 0);
    let (handle, task) = Tasks::start(start(sender, receiver));
    tasks.tasks.push(Task::idle_tree(truth::id(&handle), tree).beside(wait));
    tasks.graph.waits(task, "mpsc_recv", None, &[task]);
    tasks.graph.perhaps(&[task]);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    let handler = at("deadlocks::actors::handle").then(at("deadlocks::nap"));
    spawn(tasks, at("deadlocks::actors::dispatch").polls(handler), dispatch);
    spawn(tasks, at("deadlocks::actors::serve"), serve);
    #[cfg(feature = "since_1_28")]
    spawn(tasks, at("deadlocks::actors::by_closure"), by_closure);
}
