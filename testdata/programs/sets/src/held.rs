//! Futures that lie in a collection, an enum, a tuple or a struct, and that nobody polls there.

use std::collections::{BTreeMap, BinaryHeap, HashMap, LinkedList, VecDeque};
use std::future::Future;
use std::pin::Pin;

use futures_util::stream::FuturesUnordered;
use truth::here;
use truth::tree::{at, fresh, Node};
use truth::Task;

use crate::{doze, nap, spawn};

type Boxed = Pin<Box<dyn Future<Output = Result<u32, ()>> + Send>>;

fn boxed() -> Boxed {
    Box::pin(doze())
}

/// Its elements begin in the middle of its buffer.
async fn deque() {
    let mut queue = VecDeque::with_capacity(4);
    for _ in 0..3 {
        queue.push_back(boxed());
    }
    queue.pop_front();
    queue.pop_front();
    queue.push_back(boxed());
    queue.push_back(boxed());
    here!("sets::held::deque");
    nap().await;
    drop(queue);
}

async fn list() {
    let mut list = LinkedList::new();
    list.push_back(boxed());
    list.push_back(boxed());
    here!("sets::held::list");
    nap().await;
    drop(list);
}

async fn hash_map() {
    let mut map: HashMap<u32, Boxed> = (0..5).map(|key| (key, boxed())).collect();
    map.remove(&3);
    here!("sets::held::hash_map");
    nap().await;
    drop(map);
}

/// In place, and beside something else.
async fn hash_map_of_pairs() {
    let mut map = HashMap::new();
    map.insert("one".to_string(), (1, doze()));
    map.insert("two".to_string(), (2, doze()));
    here!("sets::held::hash_map_of_pairs");
    nap().await;
    drop(map);
}

/// More than a node has room for.
async fn btree_map() {
    let mut map: BTreeMap<u32, Option<Boxed>> = (0..40).map(|key| (key, Some(boxed()))).collect();
    map.insert(7, None);
    map.remove(&39);
    here!("sets::held::btree_map");
    nap().await;
    drop(map);
}

struct Job<F> {
    priority: u32,
    future: F,
}

impl<F> PartialEq for Job<F> {
    fn eq(&self, other: &Self) -> bool {
        self.priority == other.priority
    }
}

impl<F> Eq for Job<F> {}

impl<F> PartialOrd for Job<F> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<F> Ord for Job<F> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.priority.cmp(&other.priority)
    }
}

async fn heap() {
    let mut heap = BinaryHeap::new();
    heap.push(Job { priority: 1, future: boxed() });
    heap.push(Job { priority: 2, future: boxed() });
    here!("sets::held::heap");
    nap().await;
    let _ = heap.pop().expect("it is not empty").future.await;
}

async fn empty() {
    let mut map: HashMap<u32, Boxed> = (0..5).map(|key| (key, boxed())).collect();
    map.clear();
    let mut queue: VecDeque<Boxed> = (0..5).map(|_| boxed()).collect();
    queue.clear();
    let mut tree: BTreeMap<u32, Boxed> = (0..5).map(|key| (key, boxed())).collect();
    tree.retain(|_, _| false);
    here!("sets::held::empty");
    nap().await;
    drop((map, queue, tree));
}

/// Of the one that was taken the bits are left.
async fn options() {
    let mut taken = Some(boxed());
    let kept = Some(boxed());
    drop(taken.take());
    here!("sets::held::options");
    nap().await;
    drop((taken, kept));
}

async fn arrays() {
    let array = [boxed(), boxed()];
    let slice = vec![doze(), doze(), doze()].into_boxed_slice();
    let tuple = (1, Box::new(doze()), "text");
    here!("sets::held::arrays");
    nap().await;
    drop((array, slice, tuple));
}

enum Step<F> {
    Idle,
    Working { job: Job<F>, backup: Option<F> },
}

struct Worker<F> {
    jobs: Vec<Job<F>>,
    by_name: HashMap<String, Job<F>>,
    step: Step<F>,
    set: FuturesUnordered<F>,
}

/// All of that in a struct of the program.
async fn worker() {
    let idle = Worker { jobs: Vec::new(), step: Step::<Boxed>::Idle, ..empty_worker() };
    let mut busy = empty_worker();
    busy.jobs.push(Job { priority: 1, future: boxed() });
    busy.by_name.insert("name".to_string(), Job { priority: 2, future: boxed() });
    busy.step = Step::Working { job: Job { priority: 3, future: boxed() }, backup: None };
    busy.set.push(boxed());
    here!("sets::held::worker");
    nap().await;
    if let Step::Working { job, backup } = &mut busy.step {
        let _ = job.future.as_mut().await;
        drop(backup.take());
    }
    drop((idle, busy));
}

fn empty_worker() -> Worker<Boxed> {
    Worker {
        jobs: Vec::new(),
        by_name: HashMap::new(),
        step: Step::Idle,
        set: FuturesUnordered::new(),
    }
}

fn holds(name: &'static str, held: usize) -> Node {
    let node = at(name).then(at("sets::nap"));
    if held == 0 {
        return node;
    }
    node.held(fresh("sets::doze").times(held))
}

pub(crate) fn spawn_all() -> Vec<Task> {
    vec![
        spawn(deque(), holds("sets::held::deque", 3)),
        spawn(list(), holds("sets::held::list", 2)),
        spawn(hash_map(), holds("sets::held::hash_map", 4)),
        spawn(hash_map_of_pairs(), holds("sets::held::hash_map_of_pairs", 2)),
        spawn(btree_map(), holds("sets::held::btree_map", 38)),
        spawn(heap(), holds("sets::held::heap", 2)),
        spawn(empty(), holds("sets::held::empty", 0)),
        spawn(options(), holds("sets::held::options", 1)),
        spawn(arrays(), holds("sets::held::arrays", 6)),
        spawn(worker(), holds("sets::held::worker", 4)),
    ]
}
