//! What a test program knows about itself, told in one line of JSON.
//!
//! A program describes its runtimes and tasks in a [`Truth`], gives that to [`Truth::publish`]
//! and goes on into its situation. A thread of its own then waits until the situation is
//! reached, prints `ready` and the truth, and ends the process when stdin does.
//!
//! The situation is reached when
//! - every await point named in the truth was passed as often as the truth says ([`here!`]),
//! - every thread sleeps, except those that called [`busy`],
//! - each runtime that can count its tasks counts as many as the truth does.

pub mod graph;
mod json;
pub mod quiet;
pub mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::process;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any look at the program; far enough away that no timer driver wakes up early.
pub const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

const WATCHDOG: Duration = Duration::from_secs(10 * 60);
const PATIENCE: Duration = Duration::from_secs(60);

/// Says that the line after this one holds the await point of the named coroutine.
///
/// The name is the one used in chains. Where one coroutine has several await points of
/// interest, a space and a word after the name tell them apart: `"app::descend bottom"`.
#[macro_export]
macro_rules! here {
    ($name:expr) => {
        $crate::mark($name, file!(), line!() + 1)
    };
}

/// Says that the line after this one declares a variable: "app::transfer guard", the coroutine that
/// has it and its name.
#[macro_export]
macro_rules! declares {
    ($name:expr) => {
        $crate::declare($name, file!(), line!() + 1)
    };
}

/// The same of a parameter: in the line before this one.
#[macro_export]
macro_rules! declared {
    ($name:expr) => {
        $crate::declare($name, file!(), line!() - 1)
    };
}

/// Says what `{:?}` makes of variables of the named coroutine, which are alive at its await.
#[macro_export]
macro_rules! locals {
    ($function:expr => $($name:ident),+ $(,)?) => {
        $( $crate::local($function, stringify!($name), Some(format!("{:?}", $name))); )+
    };
}

/// Says that variables of the named coroutine hold nothing at its await: moved out, or not yet
/// initialised.
#[macro_export]
macro_rules! moved {
    ($function:expr, $($name:ident),+ $(,)?) => {
        $( $crate::local($function, stringify!($name), None); )+
    };
}

/// Keeps variables alive up to here.
#[macro_export]
macro_rules! used {
    ($($name:ident),+ $(,)?) => {
        $( let _ = &$name; )+
    };
}

struct Local {
    function: &'static str,
    name: &'static str,
    /// `None`: it must not be shown as if it were alive.
    text: Option<String>,
}

struct Place {
    name: &'static str,
    file: &'static str,
    line: u32,
    visits: usize,
}

static PLACES: Mutex<Vec<Place>> = Mutex::new(Vec::new());
static DECLARED: Mutex<Vec<Place>> = Mutex::new(Vec::new());
static LOCALS: Mutex<Vec<Local>> = Mutex::new(Vec::new());
static BUSY: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn note(places: &Mutex<Vec<Place>>, name: &'static str, file: &'static str, line: u32) {
    let mut places = lock(places);
    match places.iter_mut().find(|place| place.name == name) {
        Some(place) => {
            assert_eq!(place.line, line, "two places are named {}", name);
            place.visits += 1;
        }
        None => places.push(Place { name, file, line, visits: 1 }),
    }
}

/// What [`here!`] expands to.
pub fn mark(name: &'static str, file: &'static str, line: u32) {
    note(&PLACES, name, file, line);
}

/// What [`declares!`] and [`declared!`] expand to.
pub fn declare(name: &'static str, file: &'static str, line: u32) {
    note(&DECLARED, name, file, line);
}

/// How often the named await point was passed.
pub fn visits(name: &str) -> usize {
    lock(&PLACES).iter().find(|place| place.name == name).map_or(0, |place| place.visits)
}

/// What [`locals!`] and [`moved!`] expand to.
pub fn local(function: &'static str, name: &'static str, text: Option<String>) {
    lock(&LOCALS).push(Local { function, name, text });
}

/// Says that this thread is where the truth wants it and will not sleep.
pub fn busy() {
    let tid = quiet::own_tid();
    lock(&BUSY).push(tid);
}

/// What nobody drops.
pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// The id of the task behind a tokio `JoinHandle` or `AbortHandle`.
///
/// tokio has stable functions for this since 1.41 only, but it printed the id long before.
pub fn id(handle: &impl fmt::Debug) -> Option<u64> {
    let text = format!("{:?}", handle);
    let digits = text.split("Id(").nth(1)?.split(')').next()?;
    digits.parse().ok()
}

/// One runtime.
pub struct Runtime {
    /// "tokio", as asyncdbg names it.
    pub kind: &'static str,
    pub flavor: &'static str,
    pub workers: Option<usize>,
    pub name: Option<String>,
    /// Counts the runtime's live tasks, if this version of tokio can.
    pub alive: Option<Box<dyn Fn() -> usize + Send>>,
    /// What waits in its queues, if that is certain.
    pub queued: Option<Queued>,
}

/// Tasks in the queues of a runtime.
pub struct Queued {
    /// In those of the workers, all together.
    pub local: usize,
    pub injected: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    Scheduled,
    Running,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Scheduled => "scheduled",
            State::Running => "running",
        }
    }
}

enum Leaf {
    Sleep,
    Join(Option<u64>),
    Wait(Wait),
}

/// What a leaf waits for: its kind, and details that the answer must have too.
#[derive(Clone)]
pub struct Wait {
    kind: &'static str,
    details: Vec<(&'static str, Detail)>,
}

impl Wait {
    pub fn new(kind: &'static str) -> Wait {
        Wait { kind, details: Vec::new() }
    }

    pub fn with(mut self, key: &'static str, detail: impl Into<Detail>) -> Wait {
        self.details.push((key, detail.into()));
        self
    }
}

/// A value in JSON.
#[derive(Clone)]
pub struct Detail(String);

impl From<i32> for Detail {
    fn from(number: i32) -> Detail {
        Detail(number.to_string())
    }
}

impl From<i64> for Detail {
    fn from(number: i64) -> Detail {
        Detail(number.to_string())
    }
}

impl From<&str> for Detail {
    fn from(text: &str) -> Detail {
        Detail(json::string(text))
    }
}

impl From<String> for Detail {
    fn from(text: String) -> Detail {
        Detail(json::string(&text))
    }
}

impl From<bool> for Detail {
    fn from(yes: bool) -> Detail {
        Detail(yes.to_string())
    }
}

/// An address.
impl<T> From<*const T> for Detail {
    fn from(address: *const T) -> Detail {
        Detail(format!("\"{:#x}\"", address as usize))
    }
}

/// The id of a task.
impl From<Option<u64>> for Detail {
    fn from(id: Option<u64>) -> Detail {
        Detail(json::id(id))
    }
}

/// The ids of several.
impl From<Vec<Option<u64>>> for Detail {
    fn from(ids: Vec<Option<u64>>) -> Detail {
        Detail(json::array(ids.into_iter().map(json::id)))
    }
}

/// One task, or several that look alike.
pub struct Task {
    ids: Vec<Option<u64>>,
    /// `None` for a task of a `LocalSet`, which no runtime counts.
    runtime: Option<usize>,
    /// Of a `LocalSet` that no runtime drives.
    undriven: bool,
    state: State,
    chain: Vec<&'static str>,
    leaf: Option<Leaf>,
    /// What other branches wait for.
    beside: Vec<Wait>,
    /// How many things it waits for, if that is said.
    leaves: Option<usize>,
    /// Runs, but its thread sleeps.
    blocked: bool,
    /// Whether the task was polled up to the await points of its chain.
    polled: bool,
    tree: Option<tree::Node>,
    /// What else is known of one of its futures; `None`: it must not be claimed.
    properties: Vec<(&'static str, Option<Detail>)>,
}

impl Task {
    fn new(ids: Vec<Option<u64>>, state: State, chain: &[&'static str]) -> Task {
        Task {
            ids,
            runtime: Some(0),
            undriven: false,
            state,
            chain: chain.to_vec(),
            leaf: None,
            beside: Vec::new(),
            leaves: None,
            blocked: false,
            polled: true,
            tree: None,
            properties: Vec::new(),
        }
    }

    /// Suspended, nothing woke it.
    pub fn idle(id: Option<u64>, chain: &[&'static str]) -> Task {
        Task::new(vec![id], State::Idle, chain)
    }

    /// Suspended, nothing woke it, and this is the tree of its futures.
    pub fn idle_tree(id: Option<u64>, tree: tree::Node) -> Task {
        let mut task = Task::idle(id, &[]);
        task.tree = Some(tree);
        task
    }

    /// Like [`Task::idle`], for several.
    pub fn all_idle(ids: Vec<Option<u64>>, chain: &[&'static str]) -> Task {
        Task::new(ids, State::Idle, chain)
    }

    /// Suspended, woken, and waiting for a worker.
    pub fn woken(id: Option<u64>, chain: &[&'static str]) -> Task {
        Task::new(vec![id], State::Scheduled, chain)
    }

    /// Spawned, never polled, and waiting for a worker.
    pub fn unpolled(id: Option<u64>, root: &'static str) -> Task {
        let mut task = Task::new(vec![id], State::Scheduled, &[root]);
        task.polled = false;
        task
    }

    /// On a worker, in a function that called [`busy`].
    pub fn running(id: Option<u64>, chain: &[&'static str]) -> Task {
        let mut task = Task::new(vec![id], State::Running, chain);
        task.polled = false;
        task
    }

    /// On a worker, in a call that blocks the worker: the next line after [`here!`].
    pub fn blocked(id: Option<u64>, function: &'static str) -> Task {
        let mut task = Task::new(vec![id], State::Running, &[function]);
        task.blocked = true;
        task
    }

    /// The runtime it belongs to, counted in the order of [`Truth::runtime`].
    pub fn on(mut self, runtime: usize) -> Task {
        self.runtime = Some(runtime);
        self
    }

    /// It belongs to a `LocalSet`.
    pub fn local(mut self) -> Task {
        self.runtime = None;
        self
    }

    /// It belongs to a `LocalSet` that no runtime drives: nobody does, or a thread that is in none.
    pub fn undriven(mut self) -> Task {
        self.undriven = true;
        self.local()
    }

    /// The await points that it passes and how often each.
    pub fn visits(&self) -> BTreeMap<&'static str, usize> {
        let mut wanted = BTreeMap::new();
        if self.polled {
            for name in &self.chain {
                *wanted.entry(*name).or_insert(0) += self.ids.len();
            }
        }
        if let Some(tree) = &self.tree {
            tree.count_visits(self.ids.len(), &mut wanted);
        }
        wanted
    }

    /// The innermost coroutine awaits a `Sleep`.
    pub fn sleeps(mut self) -> Task {
        self.leaf = Some(Leaf::Sleep);
        self
    }

    /// The innermost coroutine awaits the `JoinHandle` of this task.
    pub fn joins(mut self, id: Option<u64>) -> Task {
        self.leaf = Some(Leaf::Join(id));
        self
    }

    /// The innermost future waits for this.
    pub fn waits(mut self, wait: Wait) -> Task {
        self.leaf = Some(Leaf::Wait(wait));
        self
    }

    /// Another branch waits for this.
    pub fn beside(mut self, wait: Wait) -> Task {
        self.beside.push(wait);
        self
    }

    /// One of its futures has this property.
    pub fn property(mut self, key: &'static str, detail: impl Into<Detail>) -> Task {
        self.properties.push((key, Some(detail.into())));
        self
    }

    /// None of its futures may be claimed to have it.
    pub fn no_property(mut self, key: &'static str) -> Task {
        self.properties.push((key, None));
        self
    }

    /// It waits for so many things, and no more.
    pub fn leaves(mut self, number: usize) -> Task {
        self.leaves = Some(number);
        self
    }
}

struct Job {
    function: &'static str,
    block_on: bool,
}

/// A thread that should be polling or working but sits in something.
pub struct Blocked {
    kind: &'static str,
    task: Option<u64>,
    object: Option<usize>,
}

impl Blocked {
    /// `kind` is that of asyncdbg's `wait`, `task` what the thread runs, `object` the address of
    /// a lock.
    pub fn new(kind: &'static str, task: Option<u64>, object: Option<usize>) -> Blocked {
        Blocked { kind, task, object }
    }
}

/// A guard, permits or an end of a channel, and who has it.
#[derive(Clone)]
pub struct Hold {
    task: Option<u64>,
    role: &'static str,
    kind: &'static str,
    object: usize,
    path: Option<&'static str>,
    made: Option<&'static str>,
    stale: bool,
}

impl Hold {
    /// `role` and `kind` as in asyncdbg's `holdings`; `task`: `None` for the thread in `block_on`.
    pub fn new(task: Option<u64>, role: &'static str, kind: &'static str, object: usize) -> Hold {
        Hold { task, role, kind, object, path: None, made: None, stale: false }
    }

    /// A lock's guard, or permits.
    pub fn lock<T: ?Sized>(task: Option<u64>, kind: &'static str, object: *const T) -> Hold {
        Hold::new(task, "lock", kind, object as *const u8 as usize)
    }

    /// Where it lies, from its frame on.
    pub fn path(mut self, path: &'static str) -> Hold {
        self.path = Some(path);
        self
    }

    /// Its variable shares its name with others: this one was declared by this name.
    pub fn made(mut self, name: &'static str) -> Hold {
        self.made = Some(name);
        self
    }

    /// It was moved out of there: it may be told, but only as uncertain.
    pub fn stale(mut self) -> Hold {
        self.stale = true;
        self
    }
}

/// A descriptor that a task owns, alone or with others.
pub struct Own {
    pub task: Option<u64>,
    pub fd: i32,
    /// From its frame to what the program calls a socket.
    pub path: &'static str,
    /// False: it lies in a variable from which parts may be moved out, so that there may be a doubt.
    pub sure: bool,
}

/// A future that a thread drives by `block_on`.
struct Root {
    chain: Vec<&'static str>,
    wait: Option<Wait>,
}

/// All a program says about itself.
pub struct Truth {
    program: &'static str,
    runtimes: Vec<Runtime>,
    tasks: Vec<Task>,
    graph: Option<graph::Graph>,
    block_on: Vec<Root>,
    blocking: Vec<Job>,
    gone: Vec<Option<u64>>,
    passes: Vec<&'static str>,
    threads: Option<Vec<Blocked>>,
    holds: Vec<Hold>,
    owns: Vec<Own>,
}

impl Truth {
    pub fn new(program: &'static str) -> Truth {
        Truth {
            program,
            runtimes: Vec::new(),
            tasks: Vec::new(),
            graph: None,
            block_on: Vec::new(),
            blocking: Vec::new(),
            gone: Vec::new(),
            passes: Vec::new(),
            threads: None,
            holds: Vec::new(),
            owns: Vec::new(),
        }
    }

    pub fn runtime(mut self, runtime: Runtime) -> Truth {
        self.runtimes.push(runtime);
        self
    }

    pub fn task(mut self, task: Task) -> Truth {
        self.tasks.push(task);
        self
    }

    pub fn tasks(mut self, tasks: impl IntoIterator<Item = Task>) -> Truth {
        self.tasks.extend(tasks);
        self
    }

    /// Who waits for whom.
    pub fn graph(mut self, graph: graph::Graph) -> Truth {
        self.graph = Some(graph);
        self
    }

    /// A future that a thread drives by `block_on`.
    pub fn block_on(mut self, chain: &[&'static str]) -> Truth {
        self.block_on.push(Root { chain: chain.to_vec(), wait: None });
        self
    }

    /// The same, of which it is known what it waits for.
    pub fn block_on_waits(mut self, chain: &[&'static str], wait: Wait) -> Truth {
        self.block_on.push(Root { chain: chain.to_vec(), wait: Some(wait) });
        self
    }

    /// A function that a thread of a blocking pool executes.
    pub fn blocking(mut self, function: &'static str) -> Truth {
        self.blocking.push(Job { function, block_on: false });
        self
    }

    /// A function that a thread of a blocking pool executes and that is in `block_on` itself.
    pub fn blocking_on(mut self, function: &'static str) -> Truth {
        self.blocking.push(Job { function, block_on: true });
        self
    }

    /// A task that ended but whose memory is still held.
    pub fn gone(mut self, id: Option<u64>) -> Truth {
        self.gone.push(id);
        self
    }

    /// A place that is in no chain but must be passed once too.
    pub fn passes(mut self, name: &'static str) -> Truth {
        self.passes.push(name);
        self
    }

    /// All the threads that should be polling or working but sit in something.
    pub fn blocked(mut self, threads: Vec<Blocked>) -> Truth {
        self.threads = Some(threads);
        self
    }

    /// All that anybody holds of the locks and channels named in it.
    pub fn holds(mut self, holds: impl IntoIterator<Item = Hold>) -> Truth {
        self.holds.extend(holds);
        self
    }

    /// Who has the descriptors that are named in it: nobody else has them.
    pub fn owns(mut self, owns: impl IntoIterator<Item = Own>) -> Truth {
        self.owns.extend(owns);
        self
    }

    /// Waits in a thread of its own until all of this is so, then tells it.
    pub fn publish(self) {
        spawn("watchdog", || {
            thread::sleep(WATCHDOG);
            process::exit(3);
        });
        spawn("truth", move || {
            self.wait();
            let line = json::line(&self, &lock(&PLACES), &lock(&DECLARED), &lock(&LOCALS));
            say("ready");
            say(&line);
            wait_for_eof();
            process::exit(0);
        });
    }

    fn wait(&self) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(reason) = self.reached() {
            if Instant::now() > deadline {
                eprintln!("{}: not reached: {}", self.program, reason);
                process::exit(4);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn reached(&self) -> Result<(), String> {
        for (name, wanted) in self.awaited() {
            let seen = visits(name);
            if seen < wanted {
                return Err(format!("{}: passed {} times of {}", name, seen, wanted));
            }
        }
        let running = |task: &&Task| task.state == State::Running && !task.blocked;
        let running = self.tasks.iter().filter(running).count();
        let busy = lock(&BUSY).clone();
        if busy.len() < running {
            return Err(format!("{} of {} tasks run", busy.len(), running));
        }
        quiet::check(&busy)?;
        for (index, runtime) in self.runtimes.iter().enumerate() {
            let wanted = self.tasks_of(index);
            let alive = runtime.alive.as_ref().map_or(wanted, |count| count());
            if alive != wanted {
                return Err(format!("runtime {} has {} tasks, not {}", index, alive, wanted));
            }
        }
        Ok(())
    }

    /// The await points to be passed and how often each.
    fn awaited(&self) -> BTreeMap<&'static str, usize> {
        let mut wanted = BTreeMap::new();
        for (name, times) in self.tasks.iter().flat_map(Task::visits) {
            *wanted.entry(name).or_insert(0) += times;
        }
        for name in self.block_on.iter().flat_map(|root| &root.chain).chain(&self.passes) {
            *wanted.entry(*name).or_insert(0) += 1;
        }
        wanted
    }

    fn tasks_of(&self, runtime: usize) -> usize {
        let own = self.tasks.iter().filter(|task| task.runtime == Some(runtime));
        own.map(|task| task.ids.len()).sum()
    }
}

/// Prints one line at once, whatever stdout is.
pub fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    // Whoever started us may be gone; then nobody needs the line.
    let _ = writeln!(stdout, "{}", line).and_then(|()| stdout.flush());
}

fn wait_for_eof() {
    let mut stdin = io::stdin().lock();
    let mut buf = [0; 256];
    while stdin.read(&mut buf).map_or(false, |len| len > 0) {}
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) {
    let builder = thread::Builder::new().name(name.to_string());
    builder.spawn(body).expect("cannot start a thread");
}
