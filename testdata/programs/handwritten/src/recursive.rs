//! Types that lead to themselves, with futures that nothing but their poll function tells.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::time::sleep;
use truth::tree::{at, library};
use truth::{here, Task, Wait, FOREVER};

struct Gate {
    waker: Option<Waker>,
    passed: u64,
}

impl Future for Gate {
    type Output = u64;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        if self.passed > 0 {
            return Poll::Ready(self.passed);
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

fn gate() -> Gate {
    Gate { waker: None, passed: 0 }
}

struct Node {
    #[allow(dead_code)]
    next: Option<Box<Node>>,
    gate: Gate,
}

struct Tree {
    #[allow(dead_code)]
    kids: Vec<Tree>,
    gate: Gate,
}

fn list(length: usize) -> Node {
    let next = (length > 1).then(|| Box::new(list(length - 1)));
    Node { next, gate: gate() }
}

fn tree(kids: usize) -> Tree {
    Tree { kids: (0..kids).map(|_| tree(0)).collect(), gate: gate() }
}

/// Three gates, that nobody polls; what is asked about first differs.
async fn hold<T>(make: fn() -> T) {
    let gates = make();
    let before = String::from("one");
    let after = String::from("other");
    here!("handwritten::recursive::hold");
    sleep(FOREVER).await;
    drop((gates, before, after));
}

fn three<T: Send + 'static>(make: fn() -> T) -> Task {
    let task = tokio::spawn(hold(make));
    let gates = library().times(3);
    Task::idle_tree(truth::id(&task), at("handwritten::recursive::hold").held(gates)).sleeps()
}

pub fn spawn() -> Vec<Task> {
    let polled = [tokio::spawn(list(1).gate), tokio::spawn(tree(0).gate)];
    let polled = |of: usize| Task::idle(truth::id(&polled[of]), &[]).waits(Wait::new("waker"));
    vec![
        polled(0),
        polled(1),
        three(|| list(3)),
        three(|| Some(Box::new(list(3)))),
        three(|| Box::new(list(3))),
        three(|| tree(2)),
        three(|| vec![tree(0), tree(0), tree(0)]),
    ]
}
