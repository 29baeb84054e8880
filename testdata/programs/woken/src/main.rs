//! Tasks that got what they waited for but were not polled since: the only worker burns.

use std::future::Future;
use std::ptr;
use std::sync::mpsc as threads;
use std::thread;

use tokio::sync::{broadcast, mpsc, oneshot, watch, Barrier, Mutex, Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use truth::{here, leak, Task, Truth, Wait};

static STOP: u32 = 0;

/// Nothing ever sets STOP, but the compiler shall not know that this function never returns.
#[inline(never)]
fn spin() {
    truth::busy();
    // SAFETY: STOP is an initialised static.
    while unsafe { ptr::read_volatile(&STOP) } == 0 {
        std::hint::spin_loop();
    }
}

struct Tasks {
    tasks: Vec<Task>,
    spawned: usize,
    /// Wakes them, when all wait and none will be polled any more.
    wakes: Vec<Box<dyn FnOnce() + Send>>,
}

impl Tasks {
    /// Spawns a future of one await point and returns when it is suspended there.
    async fn spawn(&mut self, future: impl Future<Output = ()> + Send + 'static) -> Option<u64> {
        let id = truth::id(&tokio::spawn(future));
        self.spawned += 1;
        // With one worker, it sleeps whenever we run after it passed its await point.
        while truth::visits("woken::wait") < self.spawned {
            tokio::task::yield_now().await;
        }
        id
    }

    fn wake(&mut self, wake: impl FnOnce() + Send + 'static) {
        self.wakes.push(Box::new(wake));
    }

    fn woken(&mut self, id: Option<u64>, wait: Wait) {
        self.tasks.push(Task::woken(id, &["woken::wait"]).waits(wait));
    }

    fn idle(&mut self, id: Option<u64>, wait: Wait) {
        self.tasks.push(Task::idle(id, &["woken::wait"]).waits(wait));
    }
}

async fn wait<T>(future: impl Future<Output = T>) {
    here!("woken::wait");
    future.await;
}

fn granted(kind: &'static str) -> Wait {
    let nowhere = None::<u64>;
    Wait::new(kind).with("granted", true).with("closed", false).with("position", nowhere)
}

fn queued(kind: &'static str, position: i32) -> Wait {
    Wait::new(kind).with("granted", false).with("position", position)
}

fn closed(kind: &'static str) -> Wait {
    Wait::new(kind).with("granted", false).with("closed", true).with("position", None::<u64>)
}

async fn locks(tasks: &mut Tasks) {
    let mutex = leak(Mutex::new(0));
    let guard = mutex.lock().await;
    let first = tasks.spawn(wait(mutex.lock())).await;
    let second = tasks.spawn(wait(mutex.lock())).await;
    tasks.wake(move || drop(guard));
    tasks.woken(first, granted("mutex").with("object", mutex as *const _));
    tasks.idle(second, queued("mutex", 1).with("tasks_ahead", Vec::new()));

    let semaphore = leak(Semaphore::new(0));
    let first = tasks.spawn(wait(semaphore.acquire_many(2))).await;
    let second = tasks.spawn(wait(semaphore.acquire_many(2))).await;
    tasks.wake(move || semaphore.add_permits(3));
    tasks.woken(first, granted("semaphore").with("permits_missing", 0));
    tasks.idle(second, queued("semaphore", 1).with("permits_missing", 1));

    let semaphore = leak(Semaphore::new(1));
    let id = tasks.spawn(wait(semaphore.acquire_many(3))).await;
    tasks.wake(move || semaphore.close());
    tasks.woken(id, closed("semaphore").with("permits_missing", 2));
}

async fn notifies(tasks: &mut Tasks) {
    let notify = leak(Notify::new());
    let first = tasks.spawn(wait(notify.notified())).await;
    let second = tasks.spawn(wait(notify.notified())).await;
    tasks.wake(move || notify.notify_one());
    let wait_of = |notified| Wait::new("notify").with("notified", notified);
    tasks.woken(first, wait_of(true).with("position", None::<u64>));
    tasks.idle(second, wait_of(false).with("position", 1));

    let notify = leak(Notify::new());
    let id = tasks.spawn(wait(notify.notified())).await;
    tasks.wake(move || notify.notify_waiters());
    tasks.woken(id, wait_of(true).with("position", None::<u64>));

    let token = leak(CancellationToken::new());
    let id = tasks.spawn(wait(token.child_token().cancelled_owned())).await;
    tasks.wake(move || token.cancel());
    tasks.woken(id, Wait::new("cancellation").with("cancelled", true));
}

async fn oneshots(tasks: &mut Tasks) {
    let truth = |there| {
        let wait = Wait::new("oneshot").with("sender_alive", false);
        wait.with("value_there", there).with("closed", false).with("polled", true)
    };
    let (sender, receiver) = oneshot::channel();
    let id = tasks.spawn(wait(receiver)).await;
    tasks.wake(move || sender.send(String::new()).expect("nobody listens"));
    tasks.woken(id, truth(true));

    let (sender, receiver) = oneshot::channel::<u32>();
    let id = tasks.spawn(wait(receiver)).await;
    tasks.wake(move || drop(sender));
    tasks.woken(id, truth(false));

    let (sender, receiver) = oneshot::channel::<()>();
    let sender: &'static mut oneshot::Sender<()> = Box::leak(Box::new(sender));
    let id = tasks.spawn(wait(sender.closed())).await;
    tasks.wake(move || drop(receiver));
    tasks.woken(id, Wait::new("oneshot_closed").with("receiver_alive", false));
}

async fn watches(tasks: &mut Tasks) {
    let (sender, receiver) = watch::channel(0);
    let receiver: &'static mut watch::Receiver<i32> = Box::leak(Box::new(receiver));
    let id = tasks.spawn(wait(receiver.changed())).await;
    tasks.wake(move || {
        sender.send(1).expect("nobody watches");
        sender.send(2).expect("nobody watches");
    });
    let changed = Wait::new("watch").with("version_seen", 0).with("version", 2);
    tasks.woken(id, changed.with("closed", true).with("receivers", 1));

    let (sender, receiver) = watch::channel(0);
    let id = tasks.spawn(wait(leak(sender).closed())).await;
    tasks.wake(move || drop(receiver));
    tasks.woken(id, Wait::new("watch_closed").with("receivers", 0).with("closed", false));
}

async fn broadcasts(tasks: &mut Tasks) {
    let (sender, receiver) = broadcast::channel(4);
    let receiver: &'static mut broadcast::Receiver<i32> = Box::leak(Box::new(receiver));
    let id = tasks.spawn(wait(receiver.recv())).await;
    tasks.wake(move || {
        for number in 0..6 {
            sender.send(number).expect("nobody hears");
        }
    });
    let late = Wait::new("broadcast").with("lag", 6).with("senders", 0).with("closed", true);
    tasks.woken(id, late.with("capacity", 4));
}

async fn channels(tasks: &mut Tasks) {
    let (sender, receiver) = mpsc::channel(4);
    let receiver: &'static mut mpsc::Receiver<u32> = Box::leak(Box::new(receiver));
    let id = tasks.spawn(wait(receiver.recv())).await;
    tasks.wake(move || {
        for number in 0..3 {
            sender.try_send(number).expect("it is full already");
        }
    });
    let received = Wait::new("mpsc_recv").with("queued", 3).with("capacity", 4);
    // The last sender left a mark behind the messages.
    tasks.woken(id, received.with("senders", 0).with("closed", false));

    let (sender, receiver) = mpsc::channel(1);
    let sender: &'static mpsc::Sender<u32> = leak(sender);
    sender.try_send(1).expect("it is full already");
    let sending = tasks.spawn(wait(sender.send(2))).await;
    let closing = tasks.spawn(wait(sender.closed())).await;
    tasks.wake(move || drop(receiver));
    tasks.woken(sending, closed("mpsc_send").with("capacity", 1).with("queued", 0));
    tasks.woken(closing, Wait::new("mpsc_closed").with("closed", true).with("queued", 0));
}

async fn main_task(report: threads::Sender<Vec<Task>>) {
    let mut tasks = Tasks { tasks: Vec::new(), spawned: 0, wakes: Vec::new() };
    locks(&mut tasks).await;
    notifies(&mut tasks).await;
    oneshots(&mut tasks).await;
    watches(&mut tasks).await;
    broadcasts(&mut tasks).await;
    channels(&mut tasks).await;
    let barrier = leak(Barrier::new(2));
    let id = tasks.spawn(wait(barrier.wait())).await;
    tasks.woken(id, Wait::new("barrier").with("complete", true).with("arrived", 2));
    tasks.wakes.into_iter().for_each(|wake| wake());
    // Who comes last does not wait.
    barrier.wait().await;
    let _ = report.send(tasks.tasks);
    spin();
}

fn main() {
    let runtime = truth_tokio::multi_thread(1);
    let (sender, receiver) = threads::channel();
    let burning = runtime.spawn(main_task(sender));
    let tasks = receiver.recv().expect("the task is gone");
    Truth::new("woken")
        .runtime(truth_tokio::describe(runtime.handle(), "multi_thread", 1))
        .task(Task::running(truth::id(&burning), &["woken::main_task"]))
        .tasks(tasks)
        .publish();
    loop {
        thread::park();
    }
}
