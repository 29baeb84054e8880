//! Actors that call each other: each waits for the answer to a request that the other has not taken
//! out of its mailbox yet.

use tokio::sync::{mpsc, oneshot};
use truth::graph::Node;
use truth::{here, Wait};

use crate::Tasks;

struct Request {
    number: u32,
    answer: oneshot::Sender<u32>,
}

const CALL: &str = "deadlocks::calls::call";

/// Asks the other before it looks into its own mailbox, and numbers before that.
async fn call(before: u32, peer: mpsc::Sender<Request>, mut mailbox: mpsc::Receiver<Request>) {
    for number in 0..before {
        let (answer, _) = oneshot::channel();
        peer.send(Request { number, answer }).await.ok().expect("the mailbox is gone");
    }
    let (answer, answered) = oneshot::channel();
    let request = Request { number: 1, answer };
    peer.send(request).await.ok().expect("the mailbox is gone");
    here!("deadlocks::calls::call");
    let base = answered.await.expect("no answer");
    while let Some(request) = mailbox.recv().await {
        let _ = request.answer.send(base + request.number);
    }
}

type Boxed = Box<dyn Send + Sync>;

/// The same by mailboxes without bounds, of which one is in a structure.
struct Actor {
    peer: mpsc::UnboundedSender<(Boxed, Option<oneshot::Sender<u32>>)>,
    mailbox: mpsc::UnboundedReceiver<(Boxed, Option<oneshot::Sender<u32>>)>,
}

impl Actor {
    async fn call_unbounded(&mut self) {
        let (answer, answered) = oneshot::channel();
        let _ = self.peer.send((Box::new(7_u32), Some(answer)));
        here!("deadlocks::calls::Actor::call_unbounded");
        let _ = answered.await;
        while let Some((_, Some(answer))) = self.mailbox.recv().await {
            let _ = answer.send(2);
        }
    }
}

async fn run(mut actor: Actor) {
    here!("deadlocks::calls::run");
    actor.call_unbounded().await;
}

fn pair(tasks: &mut Tasks, before: u32) {
    let ((to_first, first), (to_second, second)) = (mpsc::channel(100), mpsc::channel(100));
    let wait = || Wait::new("oneshot");
    let first = tasks.spawn(call(before, to_second, first), CALL, wait());
    let second = tasks.spawn(call(before, to_first, second), CALL, wait());
    each_other(tasks, first, second);
}

fn each_other(tasks: &mut Tasks, first: Node, second: Node) {
    tasks.graph.waits(first, "oneshot", None, &[second]);
    tasks.graph.waits(second, "oneshot", None, &[first]);
    tasks.graph.deadlock(&[first, second]);
}

fn unbounded(tasks: &mut Tasks) {
    let ((to_first, first), (to_second, second)) =
        (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    let mut spawn = |peer, mailbox| {
        let (handle, node) = Tasks::start(run(Actor { peer, mailbox }));
        let chain = &["deadlocks::calls::run", "deadlocks::calls::Actor::call_unbounded"];
        let task = truth::Task::idle(truth::id(&handle), chain);
        tasks.tasks.push(task.waits(Wait::new("oneshot")));
        node
    };
    let (first, second) = (spawn(to_second, first), spawn(to_first, second));
    each_other(tasks, first, second);
}

pub(crate) fn spawn_all(tasks: &mut Tasks) {
    pair(tasks, 0);
    // In the second block of the channel.
    pair(tasks, 40);
    unbounded(tasks);
}
