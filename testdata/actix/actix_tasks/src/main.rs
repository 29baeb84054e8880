//! actix-rt: a System with two Arbiters, each a thread with a runtime and a LocalSet of its own, an
//! Arbiter on a runtime that is not its own, and tasks of all three that wait for each other.

use std::future::{pending, Future};
use std::sync::mpsc;
use std::sync::Arc;

use actix_rt::task::spawn_blocking;
use actix_rt::time::sleep;
use actix_rt::{Arbiter, System};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, Mutex, Notify};
use truth::graph::{address, Graph, Node};
use truth::{here, leak, Task, Truth, Wait, FOREVER};

type Lock = &'static Mutex<u32>;

/// What the threads say of themselves: their runtimes, and the ids of their tasks.
enum Part {
    Runtime(truth::Runtime),
    Task(&'static str, Option<u64>),
}
type Reports = mpsc::Sender<Part>;

fn report(reports: &Reports, name: &'static str) {
    let id = tokio::task::id().to_string().parse().ok();
    reports.send(Part::Task(name, id)).expect("nobody hears");
}

async fn nap(reports: Reports, name: &'static str) {
    report(&reports, name);
    drop(reports);
    here!("actix_tasks::nap");
    sleep(FOREVER).await;
}

async fn accept(reports: Reports, address: mpsc::Sender<std::net::SocketAddr>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    address.send(listener.local_addr().unwrap()).unwrap();
    let _connection = listener.accept().await.unwrap();
    report(&reports, "accept");
    drop(reports);
    here!("actix_tasks::accept");
    let _ = listener.accept().await;
}

async fn read(reports: Reports, address: std::net::SocketAddr) {
    let stream = TcpStream::connect(address).await.unwrap();
    report(&reports, "read");
    drop(reports);
    here!("actix_tasks::read");
    let _ = stream.readable().await;
}

/// Holds a lock of its own and wants the one of a task of the other Arbiter.
async fn cross(reports: Reports, name: &'static str, own: Lock, other: Lock, met: [&Notify; 2]) {
    let guard = own.lock().await;
    met[0].notify_one();
    met[1].notified().await;
    report(&reports, name);
    drop(reports);
    here!("actix_tasks::cross");
    *other.lock().await += 1;
    drop(guard);
}

async fn parent(reports: Reports) {
    let child = actix_rt::spawn(nap(reports.clone(), "child"));
    report(&reports, "parent");
    drop(reports);
    here!("actix_tasks::parent");
    let _ = child.await;
}

async fn receive(reports: Reports, receiver: oneshot::Receiver<u32>) {
    report(&reports, "receive");
    drop(reports);
    here!("actix_tasks::receive");
    let _ = receiver.await;
}

async fn send(reports: Reports, sender: oneshot::Sender<u32>) {
    report(&reports, "send");
    drop(reports);
    here!("actix_tasks::send");
    pending::<()>().await;
    drop(sender);
}

async fn wait_for_job(reports: Reports) {
    report(&reports, "wait_for_job");
    drop(reports);
    let running = spawn_blocking(|| {
        here!("actix_tasks::job");
        std::thread::sleep(FOREVER);
    });
    here!("actix_tasks::wait_for_job");
    let _ = running.await;
}

/// Of a runtime that others than an Arbiter have too.
async fn aside(reports: Reports) {
    report(&reports, "aside");
    drop(reports);
    here!("actix_tasks::aside");
    sleep(FOREVER).await;
}

/// A task of the LocalSet of this Arbiter, which reports first what its runtime is. It is named as
/// the thread is.
fn start<F: Future<Output = ()> + Send + 'static>(arbiter: &Arbiter, reports: &Reports, future: F) {
    let reports = reports.clone();
    arbiter.spawn_fn(move || {
        let name = std::thread::current().name().map(str::to_string);
        let runtime = truth::Runtime { name, ..truth_tokio::current("current_thread", 1) };
        reports.send(Part::Runtime(runtime)).expect("nobody hears");
    });
    arbiter.spawn(future);
}

fn start_first(reports: &Reports, locks: [Lock; 2], met: &'static [Notify; 2]) -> Arbiter {
    let arbiter = Arbiter::new();
    let (sender, receiver) = oneshot::channel();
    let (address, hear) = mpsc::channel();
    start(&arbiter, reports, accept(reports.clone(), address));
    arbiter.spawn(cross(reports.clone(), "left", locks[0], locks[1], [&met[0], &met[1]]));
    arbiter.spawn(receive(reports.clone(), receiver));
    arbiter.spawn_fn({
        let reports = reports.clone();
        || drop(actix_rt::spawn(parent(reports)))
    });
    actix_rt::spawn(send(reports.clone(), sender));
    actix_rt::spawn(read(reports.clone(), hear.recv().unwrap()));
    arbiter
}

/// The last report about the shared runtime.
fn start_shared(reports: &Reports) -> (Arbiter, Arc<Runtime>) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = Arc::new(runtime.expect("cannot start a runtime"));
    let described = truth_tokio::describe(runtime.handle(), "multi_thread", 1);
    reports.send(Part::Runtime(described)).expect("nobody hears");
    let shared = runtime.clone();
    let arbiter = Arbiter::with_tokio_rt(move || shared);
    arbiter.spawn(nap(reports.clone(), "nap"));
    runtime.spawn(aside(reports.clone()));
    (arbiter, runtime)
}

fn main() {
    let system = System::new();
    let (reports, hear) = mpsc::channel();
    let main = truth::Runtime {
        name: Some(format!("actix-rt|system:{}", System::current().id())),
        ..truth_tokio::describe(system.runtime().tokio_runtime().handle(), "current_thread", 1)
    };
    reports.send(Part::Runtime(main)).expect("nobody hears");
    let met = leak([Notify::new(), Notify::new()]);
    let locks = [leak(Mutex::new(1)), leak(Mutex::new(2))] as [Lock; 2];
    let kept = system.block_on(async {
        let first = start_first(&reports, locks, met);
        let second = Arbiter::new();
        let cross = cross(reports.clone(), "right", locks[1], locks[0], [&met[1], &met[0]]);
        start(&second, &reports, cross);
        second.spawn(wait_for_job(reports.clone()));
        (first, second, start_shared(&reports))
    });
    drop(reports);
    std::thread::spawn(move || publish(hear.iter().collect(), locks));
    system.run().expect("the system ends");
    drop(kept);
}

/// The ids of the tasks, by name.
struct Ids(Vec<(&'static str, Option<u64>)>);

impl Ids {
    fn of(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|task| task.0 == name).and_then(|task| task.1)
    }

    fn idle(&self, name: &str, chain: &'static str) -> Task {
        Task::idle(self.of(name), &[chain]).local()
    }
}

/// The two of the System itself: one hears of Arbiters, one is the Arbiter of the main thread.
fn own_tasks() -> [Task; 2] {
    let own = || Task::idle(None, &[]).local().waits(Wait::new("mpsc_recv"));
    [own(), own()]
}

fn tasks(ids: &Ids, locks: [Lock; 2], shared: usize) -> Vec<Task> {
    let lock = |at: Lock| Wait::new("mutex").with("object", at as *const Mutex<u32>);
    let io = || Wait::new("io").with("direction", "readable");
    let child = ids.of("child");
    let mut tasks = vec![
        ids.idle("nap", "actix_tasks::nap").sleeps(),
        ids.idle("child", "actix_tasks::nap").sleeps(),
        ids.idle("accept", "actix_tasks::accept").waits(io()),
        ids.idle("read", "actix_tasks::read").waits(io()),
        ids.idle("left", "actix_tasks::cross").waits(lock(locks[1])),
        ids.idle("right", "actix_tasks::cross").waits(lock(locks[0])),
        ids.idle("parent", "actix_tasks::parent").joins(child),
        ids.idle("receive", "actix_tasks::receive").waits(Wait::new("oneshot")),
        ids.idle("send", "actix_tasks::send").waits(Wait::new("pending")),
        ids.idle("wait_for_job", "actix_tasks::wait_for_job"),
        Task::idle(ids.of("aside"), &["actix_tasks::aside"]).sleeps().on(shared),
    ];
    tasks.extend(own_tasks());
    tasks
}

fn graph(ids: &Ids, locks: [Lock; 2]) -> Graph {
    let of = |name| Node::task(ids.of(name));
    let mut graph = Graph::new();
    graph.waits(of("left"), "mutex", address(locks[1]), &[of("right")]);
    graph.waits(of("right"), "mutex", address(locks[0]), &[of("left")]);
    graph.waits(of("parent"), "join", None, &[of("child")]);
    graph.deadlock(&[of("left"), of("right")]);
    graph
}

fn publish(parts: Vec<Part>, locks: [Lock; 2]) {
    let mut ids = Ids(Vec::new());
    let mut truth = Truth::new("actix_tasks").blocking("actix_tasks::wait_for_job::{closure#0}");
    let (mut runtimes, mut shared) = (0, 0);
    for part in parts {
        match part {
            Part::Task(name, id) => ids.0.push((name, id)),
            Part::Runtime(runtime) => {
                if runtime.flavor == "multi_thread" {
                    shared = runtimes;
                }
                runtimes += 1;
                truth = truth.runtime(runtime).block_on(&[]);
            }
        }
    }
    truth.tasks(tasks(&ids, locks, shared)).graph(graph(&ids, locks)).publish();
}
