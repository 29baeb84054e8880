//! Workers and threads of the blocking pool that are stuck in calls that know no async.

use std::fmt::Debug;
use std::fs::File;
use std::future::Future;
use std::io::Read;
use std::os::raw::c_int;
use std::os::unix::io::FromRawFd;
use std::sync::{mpsc, Arc, Condvar, Mutex, RwLock};
use std::thread;

use tokio::runtime::{Builder, Runtime};
use truth::{here, Blocked, Task, Truth, FOREVER};

extern "C" {
    fn pipe(ends: *mut c_int) -> c_int;
}

/// What nobody opens while the program is looked at.
#[derive(Default)]
struct Gates {
    mutex: Mutex<u64>,
    read: RwLock<u64>,
    write: RwLock<u64>,
    condvar: (Mutex<u64>, Condvar),
    pl_mutex: parking_lot::Mutex<u64>,
    pl_read: parking_lot::RwLock<u64>,
    pl_write: parking_lot::RwLock<u64>,
    pl_condvar: (parking_lot::Mutex<u64>, parking_lot::Condvar),
}

fn address<T>(of: &T) -> Option<usize> {
    Some(of as *const T as usize)
}

async fn std_mutex(gates: Arc<Gates>) {
    here!("blocked::std_mutex");
    *gates.mutex.lock().unwrap() += 1;
}

async fn std_read(gates: Arc<Gates>) -> u64 {
    here!("blocked::std_read");
    *gates.read.read().unwrap()
}

async fn std_write(gates: Arc<Gates>) {
    here!("blocked::std_write");
    *gates.write.write().unwrap() += 1;
}

fn wait_for(condvar: &(Mutex<u64>, Condvar)) -> u64 {
    let guard = condvar.0.lock().unwrap();
    *condvar.1.wait_timeout_while(guard, FOREVER, |number| *number == 0).unwrap().0
}

async fn std_condvar(gates: Arc<Gates>) -> u64 {
    here!("blocked::std_condvar");
    wait_for(&gates.condvar)
}

async fn std_park() {
    loop {
        here!("blocked::std_park");
        thread::park();
    }
}

async fn std_join() {
    let sleeper = thread::spawn(|| thread::sleep(FOREVER));
    here!("blocked::std_join");
    sleeper.join().unwrap();
}

async fn std_channel(receiver: mpsc::Receiver<u64>) -> u64 {
    here!("blocked::std_channel");
    receiver.recv().unwrap()
}

async fn crossbeam(receiver: crossbeam_channel::Receiver<u64>) -> u64 {
    here!("blocked::crossbeam");
    receiver.recv().unwrap()
}

async fn pl_mutex(gates: Arc<Gates>) {
    here!("blocked::pl_mutex");
    *gates.pl_mutex.lock() += 1;
}

async fn pl_read(gates: Arc<Gates>) -> u64 {
    here!("blocked::pl_read");
    *gates.pl_read.read()
}

async fn pl_write(gates: Arc<Gates>) {
    here!("blocked::pl_write");
    *gates.pl_write.write() += 1;
}

async fn pl_condvar(gates: Arc<Gates>) {
    let mut guard = gates.pl_condvar.0.lock();
    here!("blocked::pl_condvar");
    gates.pl_condvar.1.wait(&mut guard);
    *guard += 1;
}

async fn read_pipe(mut file: File) -> usize {
    here!("blocked::read_pipe");
    file.read(&mut [0; 8]).unwrap()
}

async fn sleep() {
    here!("blocked::sleep");
    thread::sleep(FOREVER);
}

/// Nothing ever sets it, but the compiler shall not know.
static STOP: u32 = 0;

#[inline(never)]
fn spin() {
    truth::busy();
    // SAFETY: STOP is an initialised static.
    while unsafe { std::ptr::read_volatile(&STOP) } == 0 {
        std::hint::spin_loop();
    }
}

async fn compute() {
    here!("blocked::compute");
    spin();
}

/// Blocks while it is the root of a runtime of its own.
async fn root(gates: Arc<Gates>) {
    here!("blocked::root");
    *gates.mutex.lock().unwrap() += 1;
}

fn open_pipe() -> (File, File) {
    let mut ends = [0; 2];
    // SAFETY: it writes two numbers, and the descriptors are nobody else's.
    unsafe {
        assert_eq!(pipe(ends.as_mut_ptr()), 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    }
}

/// Spawns tasks that block and remembers where.
struct Tasks<'a> {
    runtime: &'a Runtime,
    tasks: Vec<Task>,
    blocked: Vec<Blocked>,
}

impl Tasks<'_> {
    fn add<F>(&mut self, name: &'static str, kind: &'static str, object: Option<usize>, future: F)
    where
        F: Future + Send + 'static,
        F::Output: Debug + Send,
    {
        let id = truth::id(&self.runtime.spawn(future));
        self.tasks.push(Task::blocked(id, name));
        self.blocked.push(Blocked::new(kind, id, object));
    }
}

const TASKS: usize = 15;

fn main() {
    let runtime = truth_tokio::multi_thread(TASKS + 1);
    let gates = Arc::new(Gates::default());
    let (_closed, _empty) = (gates.mutex.lock(), gates.read.write());
    let (_read, _pl_read) = (gates.write.read(), gates.pl_write.read());
    let (_pl_closed, _pl_empty) = (gates.pl_mutex.lock(), gates.pl_read.write());
    let (_sender, receiver) = mpsc::channel();
    let (_other_sender, other_receiver) = crossbeam_channel::bounded(1);
    let (_write_end, file) = {
        let (read, write) = open_pipe();
        (write, read)
    };

    let mut tasks = Tasks { runtime: &runtime, tasks: Vec::new(), blocked: Vec::new() };
    let g = &gates;
    tasks.add("blocked::std_mutex", "std_mutex", address(&g.mutex), std_mutex(g.clone()));
    tasks.add("blocked::std_read", "std_rwlock", address(&g.read), std_read(g.clone()));
    tasks.add("blocked::std_write", "std_rwlock", address(&g.write), std_write(g.clone()));
    tasks.add("blocked::std_condvar", "std_condvar", address(&g.condvar.1), std_condvar(g.clone()));
    tasks.add("blocked::std_park", "std_thread_park", None, std_park());
    tasks.add("blocked::std_join", "std_join", None, std_join());
    tasks.add("blocked::std_channel", "std_channel", None, std_channel(receiver));
    tasks.add("blocked::crossbeam", "std_channel", None, crossbeam(other_receiver));
    tasks.add("blocked::pl_mutex", "parking_lot", address(&g.pl_mutex), pl_mutex(g.clone()));
    tasks.add("blocked::pl_read", "parking_lot", address(&g.pl_read), pl_read(g.clone()));
    tasks.add("blocked::pl_write", "parking_lot", address(&g.pl_write), pl_write(g.clone()));
    let condvar = address(&g.pl_condvar.1);
    tasks.add("blocked::pl_condvar", "parking_lot", condvar, pl_condvar(g.clone()));
    tasks.add("blocked::read_pipe", "syscall", None, read_pipe(file));
    tasks.add("blocked::sleep", "syscall", None, sleep());
    tasks.add("blocked::compute", "compute", None, compute());
    let Tasks { tasks, mut blocked, .. } = tasks;
    assert_eq!(tasks.len(), TASKS);

    let for_job = gates.clone();
    let job = runtime.spawn_blocking(move || {
        truth::mark("blocked::job", file!(), line!());
        *for_job.mutex.lock().unwrap() += 1;
    });
    blocked.push(Blocked::new("std_mutex", truth::id(&job), address(&gates.mutex)));

    let for_root = gates.clone();
    let single = Builder::new_current_thread().build().expect("cannot start a runtime");
    let described = truth_tokio::describe(single.handle(), "current_thread", 1);
    thread::spawn(move || single.block_on(root(for_root)));
    blocked.push(Blocked::new("std_mutex", None, address(&gates.mutex)));

    Truth::new("blocked")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", TASKS + 1))
        .runtime(described)
        .tasks(tasks)
        .block_on(&["blocked::root"])
        .blocking("blocked::main::{closure#0}")
        .passes("blocked::job")
        .blocked(blocked)
        .publish();
    loop {
        thread::park();
    }
}
