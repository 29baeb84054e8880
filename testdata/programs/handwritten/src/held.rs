//! Futures that lie in a variable and of which it cannot be proven that nobody polls them there.

use std::collections::hash_map::{DefaultHasher, HashMap};
use std::future::{poll_fn, Future};
use std::hash::BuildHasherDefault;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use tokio::time::sleep;
use truth::tree::{at, fresh};
use truth::{here, Task, FOREVER};

async fn answer() {
    here!("handwritten::held::answer");
    sleep(FOREVER).await;
}

struct Request<F> {
    name: String,
    answer: F,
}

/// The same by way of a table of its own: the future is in use.
async fn by_own_table() {
    let mut future = answer();
    // SAFETY: it is not moved from here on.
    let pinned: Pinned<'_> = unsafe { Pin::new_unchecked(&mut future) };
    let mut table: Table<'_> = (1..400).map(|key| (key, None)).collect();
    table.insert(0, Some(pinned));
    let all = poll_fn(|cx| {
        for pinned in table.values_mut().flatten() {
            let _ = pinned.as_mut().poll(cx);
        }
        Poll::<()>::Pending
    });
    here!("handwritten::held::by_own_table");
    all.await;
}

/// Its part is moved out always, and no drop flag says so.
async fn part_moved_out() {
    let request = Request { name: String::from("request"), answer: answer() };
    let mut answer = Box::pin(request.answer);
    here!("handwritten::held::part_moved_out");
    answer.as_mut().await;
    drop((request.name, answer));
}

type Pinned<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;
/// Whatever is in it lies at the same place in each run.
type Table<'a> = HashMap<u32, Option<Pinned<'a>>, BuildHasherDefault<DefaultHasher>>;

/// Polls the future by way of a table behind a shared pointer: others may poll what the table leads to,
/// but the waker in it is that of this task.
async fn by_large_table() {
    let mut future = answer();
    // SAFETY: it is not moved from here on.
    let pinned: Pinned<'_> = unsafe { Pin::new_unchecked(&mut future) };
    let mut table: Table<'_> = (1..400).map(|key| (key, None)).collect();
    table.insert(0, Some(pinned));
    let table = Arc::new(Mutex::new(table));
    let all = poll_fn(|cx| {
        for pinned in table.lock().unwrap().values_mut().flatten() {
            let _ = pinned.as_mut().poll(cx);
        }
        Poll::<()>::Pending
    });
    here!("handwritten::held::by_large_table");
    all.await;
}

type Shared = Arc<Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>>;

/// Has what another task polls.
async fn polled_by_another(shared: Shared) {
    let never = poll_fn(|_| {
        let _ = shared.lock().unwrap().is_some();
        Poll::<()>::Pending
    });
    here!("handwritten::held::polled_by_another");
    never.await;
}

async fn polls_shared(shared: Shared) {
    let one = poll_fn(|cx| match shared.lock().unwrap().as_mut() {
        Some(future) => future.as_mut().poll(cx),
        None => Poll::Ready(()),
    });
    here!("handwritten::held::polls_shared");
    one.await;
}

pub fn spawn() -> Vec<Task> {
    let moved = at("handwritten::held::part_moved_out")
        .then(at("handwritten::held::answer"))
        .held(fresh("handwritten::held::answer").note("may have been moved out"));
    let large = at("handwritten::held::by_large_table").polls(at("handwritten::held::answer"));
    let shared: Shared = Arc::new(Mutex::new(Some(Box::pin(answer()))));
    let polled = at("handwritten::held::polls_shared").polls(at("handwritten::held::answer"));
    let own = at("handwritten::held::by_own_table").polls(at("handwritten::held::answer"));
    vec![
        Task::idle_tree(truth::id(&tokio::spawn(part_moved_out())), moved),
        Task::idle_tree(truth::id(&tokio::spawn(by_large_table())), large),
        Task::idle_tree(
            truth::id(&tokio::spawn(polled_by_another(shared.clone()))),
            at("handwritten::held::polled_by_another"),
        ),
        Task::idle_tree(truth::id(&tokio::spawn(polls_shared(shared))), polled),
        Task::idle_tree(truth::id(&tokio::spawn(by_own_table())), own),
    ]
}
