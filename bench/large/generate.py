#!/usr/bin/env python3
"""Writes the sources of a large Rust program over tokio, hyper and futures.

usage: generate.py DIRECTORY [--functions N]

The program has 10 crates of N (170) async functions each, every one a task type of its own with
its own argument, its own generics and one of ten ways to wait; every third goes through a
`Pin<Box<dyn Future>>`. With --functions 2 it is small: the 20 task types that the large program
starts first, and nothing else.

    large TYPES [TASKS]

starts TASKS tasks (default: one of each) of the first TYPES types, says `ready` and what it
started in one line of JSON, and waits until stdin ends.
"""

import argparse
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
CRATES = 10
FUNCTIONS = 170

MEMBER = """[package]
name = "{name}"
version.workspace = true
edition.workspace = true
publish.workspace = true

[dependencies]
{dependencies}
"""

PART_DEPENDENCIES = ["bytes", "futures", "http-body-util", "hyper", "hyper-util", "tokio"]

PART_HEAD = """\
#![allow(dead_code, unused_imports)]

use std::collections::{{BTreeMap, HashMap}};
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{{AtomicUsize, Ordering}};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{{BoxFuture, FutureExt, TryFutureExt}};
use futures::stream::{{self, FuturesUnordered, StreamExt}};
use http_body_util::{{BodyExt, Full}};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{{Request, Response}};
use hyper_util::rt::TokioIo;
use tokio::sync::{{mpsc, oneshot, watch, Mutex, Notify, RwLock, Semaphore}};
use tokio::time::sleep;

/// How many tasks of this crate have come to their wait.
pub static REACHED: AtomicUsize = AtomicUsize::new(0);

const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn here() {{
    REACHED.fetch_add(1, Ordering::Release);
}}

pub static STARTS: &[fn(u64)] = &[
{starts}];
"""

# What every function has.
FUNCTION = """
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Order{n} {{
    pub id: u64,
    pub name: String,
    pub lines: Vec<u32>,
    pub parent: Option<Box<Order{n}>>,
}}

#[derive(Clone, Debug)]
pub enum Event{n} {{
    Placed(Order{n}),
    Changed {{ before: Order{n}, after: Arc<Order{n}> }},
    Failed(Result<u32, String>),
    Closed,
}}

impl Order{n} {{
    fn new(id: u64) -> Self {{
        Order{n} {{ id, name: format!("order {n} {{id}}"), lines: vec![{i}, 2, 3], parent: None }}
    }}
}}
{index}
async fn settle{n}<T: Clone + Send + Sync + 'static>(value: T, notify: Arc<Notify>) -> T {{
    let kept = value.clone();
    let changes = RwLock::new(vec![value]);
    let reader = changes.read().await;
    notify.notified().await;
    drop(reader);
    changes.write().await.push(kept.clone());
    kept
}}

async fn check{n}<T: Clone + Send + Sync + 'static>(value: T) -> Result<T, String> {{
    let limit = Semaphore::new(1);
    let _permit = limit.acquire().await.map_err(|error| error.to_string())?;
    sleep(FOREVER).await;
    Ok(value)
}}
{middle}
pub async fn task{n}(order: Order{n}) -> u64 {{
    let index = index{n}(&[order.clone()]);
    let notify = Arc::new(Notify::new());
    here();
{wait}    index.len() as u64 + order.id
}}

fn start{n}(id: u64) {{
    tokio::spawn(task{n}(Order{n}::new(id)));
}}
"""

# The size of a program that does something with its data.
INDEX = """
fn index{n}<K: Clone + Ord + std::hash::Hash + Debug>(keys: &[K]) -> BTreeMap<K, Vec<K>> {{
    let mut hashed: HashMap<K, Vec<K>> = HashMap::new();
    for key in keys {{
        hashed.entry(key.clone()).or_default().push(key.clone());
    }}
    let mut sorted: Vec<(K, Vec<K>)> = hashed.into_iter().collect();
    sorted.sort_by(|a, b| b.cmp(a));
    sorted.into_iter().filter(|(_, list)| !list.is_empty()).collect()
}}
"""

COUNT = """
fn index{n}<K: Clone>(keys: &[K]) -> Vec<K> {{
    keys.to_vec()
}}
"""

BOXED = """
fn middle{n}<T>(value: T, notify: Arc<Notify>) -> Pin<Box<dyn Future<Output = T> + Send>>
where
    T: Clone + Send + Sync + 'static,
{{
    Box::pin(async move {{
        let (first, _) = tokio::join!(settle{n}(value.clone(), notify), check{n}(value));
        first
    }})
}}
"""

PLAIN = """
async fn middle{n}<T: Clone + Send + Sync + 'static>(value: T, notify: Arc<Notify>) -> T {{
    let kept = settle{n}(value, notify).await;
    check{n}(kept.clone()).await.unwrap_or(kept)
}}
"""

WAITS = [
    # A chain of async functions.
    """\
    let order = middle{n}(order.clone(), notify).await;
""",
    # A lock that is held by the task itself.
    """\
    let shared = Arc::new(Mutex::new(middle{n}(1u8, notify)));
    let guard = shared.clone().lock_owned().await;
    let _ = shared.lock().await;
    drop(guard);
""",
    # A channel.
    """\
    let (_sender, mut receiver) = mpsc::channel::<Event{n}>(4);
    while let Some(event) = receiver.recv().await {{
        if let Event{n}::Placed(order) = event {{
            middle{n}(order, notify.clone()).await;
        }}
    }}
""",
    """\
    let (_sender, mut receiver) = mpsc::unbounded_channel::<Event{n}>();
    tokio::select! {{
        event = receiver.recv() => drop(event),
        _ = middle{n}(order.clone(), notify) => {{}}
        _ = sleep(FOREVER) => {{}}
    }}
""",
    """\
    let (one, two, three) = tokio::join!(
        middle{n}(order.clone(), notify.clone()),
        settle{n}(order.id, notify.clone()),
        check{n}(order.name.clone()),
    );
    drop((one, two, three));
""",
    # Combinators of futures.
    """\
    let chained: BoxFuture<'static, u64> = check{n}(order.clone())
        .map_ok(|order| order.id)
        .and_then(|id| check{n}(id))
        .map(|result| result.unwrap_or(0))
        .then(move |id| middle{n}(id, notify))
        .boxed();
    chained.await;
""",
    """\
    let mut set = FuturesUnordered::new();
    for line in &order.lines {{
        set.push(middle{n}((*line, order.clone()), notify.clone()));
    }}
    while let Some((line, order)) = set.next().await {{
        drop((line, order));
    }}
""",
    """\
    let (_sender, receiver) = oneshot::channel::<Event{n}>();
    let (_changes, mut watched) = watch::channel(order.clone());
    futures::future::select(Box::pin(middle{n}(order.clone(), notify)), receiver).await;
    let _ = watched.changed().await;
""",
    # A connection of hyper without a request.
    """\
    let (_client, server) = tokio::io::duplex(64);
    let answer = order.clone();
    let service = service_fn(move |request: Request<Incoming>| {{
        let (answer, notify) = (answer.clone(), notify.clone());
        async move {{
            let body = request.into_body().collect().await;
            let answer = middle{n}(answer, notify).await;
            let length = body.map_or(0, |body| body.to_bytes().len());
            let text = format!("{{answer:?}} {{length}}");
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(text))))
        }}
    }});
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(server), service)
        .await;
""",
    """\
    let lines = stream::iter(order.lines.clone())
        .map(|line| middle{n}(line, notify.clone()))
        .buffer_unordered(2)
        .collect::<Vec<_>>();
    let _ = tokio::time::timeout(FOREVER, lines).await;
""",
]

MAIN = """\
use std::io::Read;
use std::sync::atomic::Ordering;
use std::time::Duration;

static PARTS: &[(&[fn(u64)], &std::sync::atomic::AtomicUsize)] = &[
{parts}];

/// The given type of task: first the first one of each crate, then the second ones, ...
fn start(kind: usize, id: u64) {{
    let (starts, _) = PARTS[kind % PARTS.len()];
    starts[kind / PARTS.len()](id);
}}

fn reached() -> usize {{
    PARTS.iter().map(|(_, reached)| reached.load(Ordering::Acquire)).sum()
}}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {{
    let available: usize = PARTS.iter().map(|(starts, _)| starts.len()).sum();
    let number = |n| std::env::args().nth(n).map(|arg| arg.parse().expect("not a number"));
    let types: usize = number(1).unwrap_or(available).min(available);
    let tasks = number(2).unwrap_or(types);
    for id in 0..tasks {{
        start(id % types, id as u64);
    }}
    while reached() < tasks {{
        tokio::time::sleep(Duration::from_millis(10)).await;
    }}
    tokio::time::sleep(Duration::from_millis(200)).await;
    println!("ready\\n{{{{\\"program\\":\\"large\\",\\"types\\":{{types}},\\"tasks\\":{{tasks}}}}}}");
    std::thread::spawn(|| {{
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    }});
    std::future::pending::<()>().await;
}}
"""


def member(directory, name, dependencies, file, source):
    source_directory = directory / name / "src"
    source_directory.mkdir(parents=True)
    manifest = MEMBER.format(name=name, dependencies="\n".join(dependencies))
    (directory / name / "Cargo.toml").write_text(manifest)
    (source_directory / file).write_text(source)


def part_source(crate, functions):
    starts = "".join(f"    start{crate}{i:03},\n" for i in range(functions))
    text = [PART_HEAD.format(starts=starts)]
    for i in range(functions):
        wait = WAITS[(crate + i) % len(WAITS)]
        middle = BOXED if (crate * FUNCTIONS + i) % 3 == 0 else PLAIN
        index = INDEX if i % 10 == 2 else COUNT
        names = {"n": f"{crate}{i:03}", "i": i}
        text.append(
            FUNCTION.format(
                wait=wait.format(**names),
                middle=middle.format(**names),
                index=index.format(**names),
                **names,
            )
        )
    return "".join(text)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--functions", type=int, default=FUNCTIONS)
    arguments = parser.parse_args()
    directory = arguments.directory
    directory.mkdir(parents=True, exist_ok=True)
    for name in ["large"] + [f"part{crate}" for crate in range(CRATES)]:
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        if (HERE / name).exists():
            shutil.copyfile(HERE / name, directory / name)
    dependencies = [f"{name}.workspace = true" for name in PART_DEPENDENCIES]
    parts = []
    for crate in range(CRATES):
        member(
            directory,
            f"part{crate}",
            dependencies,
            "lib.rs",
            part_source(crate, arguments.functions),
        )
        parts.append(f"    (part{crate}::STARTS, &part{crate}::REACHED),\n")
    dependencies = [f'part{crate} = {{ path = "../part{crate}" }}' for crate in range(CRATES)]
    dependencies.append("tokio.workspace = true")
    member(directory, "large", dependencies, "main.rs", MAIN.format(parts="".join(parts)))


if __name__ == "__main__":
    main()
