//! Writes a [`Truth`] as JSON.

use std::fmt::Display;

use crate::{Blocked, Detail, Hold, Job, Leaf, Local, Own, Place, Root, State, Task, Truth, Wait};

pub(crate) fn line(
    truth: &Truth,
    places: &[Place],
    declared: &[Place],
    locals: &[Local],
) -> String {
    let runtimes = (0..truth.runtimes.len()).map(|index| runtime(truth, index));
    let block_on = truth.block_on.iter().map(|one| root(one, places));
    let running = truth.tasks.iter().filter(|task| task.state == State::Running);
    let mut fields = vec![
        ("program", string(truth.program)),
        ("runtimes", array(runtimes)),
        ("tasks", array(truth.tasks.iter().map(|one| task(one, places, locals)))),
        ("block_on", array(block_on)),
        ("blocking", array(truth.blocking.iter().map(job))),
        ("workers_running", array(running.flat_map(ids))),
        ("gone", array(truth.gone.iter().map(|one| id(*one)))),
    ];
    if let Some(graph) = &truth.graph {
        fields.push(("graph", graph.json()));
    }
    if let Some(threads) = &truth.threads {
        fields.push(("threads", array(threads.iter().map(blocked))));
    }
    if !truth.holds.is_empty() {
        fields.push(("holds", array(truth.holds.iter().map(hold))));
    }
    if !truth.owns.is_empty() {
        fields.push(("owns", array(truth.owns.iter().map(own))));
    }
    if !declared.is_empty() {
        fields.push(("declared", array(declared.iter().map(declaration))));
    }
    object(&fields)
}

fn declaration(place: &Place) -> String {
    let line = place.line.to_string();
    object(&[("name", string(place.name)), ("file", string(place.file)), ("line", line)])
}

fn own(own: &Own) -> String {
    object(&[
        ("task", id(own.task)),
        ("fd", own.fd.to_string()),
        ("path", string(own.path)),
        ("sure", own.sure.to_string()),
    ])
}

fn hold(hold: &Hold) -> String {
    object(&[
        ("task", id(hold.task)),
        ("role", string(hold.role)),
        ("kind", string(hold.kind)),
        ("object", or_null((hold.object != 0).then(|| string(&format!("{:#x}", hold.object))))),
        ("path", or_null(hold.path.map(string))),
        ("made", or_null(hold.made.map(string))),
        ("stale", hold.stale.to_string()),
    ])
}

fn blocked(thread: &Blocked) -> String {
    let at = thread.object.map_or("null".to_string(), |at| string(&format!("{:#x}", at)));
    object(&[("kind", string(thread.kind)), ("task", id(thread.task)), ("object", at)])
}

fn root(root: &Root, places: &[Place]) -> String {
    let mut fields = frames(&root.chain, places, true);
    fields.push(("leaf", root.wait.as_ref().map_or("null".to_string(), wait)));
    object(&fields)
}

fn job(job: &Job) -> String {
    let block_on = job.block_on.to_string();
    object(&[("function", string(job.function)), ("block_on", block_on)])
}

fn runtime(truth: &Truth, index: usize) -> String {
    let runtime = &truth.runtimes[index];
    object(&[
        ("kind", string(runtime.kind)),
        ("flavor", string(runtime.flavor)),
        ("workers", or_null(runtime.workers)),
        ("tasks", truth.tasks_of(index).to_string()),
        ("num_alive_tasks", or_null(runtime.alive.as_ref().map(|count| count()))),
        ("name", runtime.name.as_deref().map_or("null".to_string(), string)),
        ("local_queues", or_null(runtime.queued.as_ref().map(|queued| queued.local))),
        ("injection_queue", or_null(runtime.queued.as_ref().map(|queued| queued.injected))),
    ])
}

fn task(task: &Task, places: &[Place], all_locals: &[Local]) -> String {
    let mut fields = vec![
        ("id", if task.ids.len() == 1 { id(task.ids[0]) } else { "null".to_string() }),
        ("count", task.ids.len().to_string()),
        ("runtime", or_null(task.runtime)),
        ("undriven", task.undriven.to_string()),
        ("state", string(task.state.name())),
    ];
    if task.ids.len() != 1 {
        fields.push(("ids", array(ids(task))));
    }
    fields.extend(frames(&task.chain, places, task.polled));
    fields.push(("leaf", leaf(task)));
    if let Some(leaves) = task.leaves {
        fields.push(("leaves", leaves.to_string()));
    }
    if !task.beside.is_empty() {
        fields.push(("beside", array(task.beside.iter().map(wait))));
    }
    if !task.properties.is_empty() {
        let text = |property: &Option<Detail>| {
            property.as_ref().map_or("null".into(), |one| one.0.clone())
        };
        let properties: Vec<_> =
            task.properties.iter().map(|(key, property)| (*key, text(property))).collect();
        fields.push(("properties", object(&properties)));
    }
    let said = |local: &&Local| task.chain.contains(&local.function);
    let own: Vec<&Local> = all_locals.iter().filter(said).collect();
    if !own.is_empty() {
        fields.push(("locals", locals(task, &own)));
    }
    if let Some(tree) = &task.tree {
        fields.push(("tree", tree.json(places)));
    }
    object(&fields)
}

/// By function: name and text of each variable, null where it must not look alive.
fn locals(task: &Task, own: &[&Local]) -> String {
    let of = |function: &str| {
        let its = own.iter().filter(|local| local.function == function);
        let text = |local: &Local| local.text.as_deref().map_or("null".to_string(), string);
        let fields: Vec<_> = its.map(|local| (local.name, text(local))).collect();
        object(&fields)
    };
    let fields: Vec<_> = task.chain.iter().map(|function| (*function, of(function))).collect();
    object(&fields)
}

fn leaf(task: &Task) -> String {
    match &task.leaf {
        None => "null".to_string(),
        Some(Leaf::Sleep) => object(&[("kind", string("sleep"))]),
        Some(Leaf::Join(awaited)) => object(&[("kind", string("join")), ("task", id(*awaited))]),
        Some(Leaf::Wait(leaf)) => wait(leaf),
    }
}

fn wait(wait: &Wait) -> String {
    let details = wait.details.iter().map(|(key, detail)| (*key, detail.0.clone()));
    let kind = std::iter::once(("kind", string(wait.kind)));
    object(&kind.chain(details).collect::<Vec<_>>())
}

/// The word after the space only tells await points of one coroutine apart; "<T as Tr>" has spaces
/// of its own.
pub(crate) fn function_of(name: &str) -> &str {
    let behind = name.rfind('>').map_or(0, |at| at + 1);
    name[behind..].find(' ').map_or(name, |at| &name[..behind + at])
}

fn frames(chain: &[&str], places: &[Place], polled: bool) -> Vec<(&'static str, String)> {
    let place = |name: &&str| places.iter().find(|place| place.name == *name && polled);
    let function = |name: &&str| string(function_of(name));
    vec![
        ("chain", array(chain.iter().map(function))),
        ("lines", array(chain.iter().map(|name| or_null(place(name).map(|place| place.line))))),
        (
            "files",
            array(
                chain
                    .iter()
                    .map(|name| place(name).map_or("null".to_string(), |place| string(place.file))),
            ),
        ),
    ]
}

fn ids(task: &Task) -> impl Iterator<Item = String> + '_ {
    task.ids.iter().map(|one| id(*one))
}

/// An address, where a runtime gives its tasks no numbers, is written as asyncdbg writes it.
fn id_text(id: u64) -> String {
    if id >> 32 == 0 {
        id.to_string()
    } else {
        format!("{:#x}", id)
    }
}

pub(crate) fn id(id: Option<u64>) -> String {
    id.map_or("null".to_string(), |id| string(&id_text(id)))
}

pub(crate) fn or_null(value: Option<impl Display>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}

pub(crate) fn array(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields = fields.iter().map(|(key, value)| format!("{}:{}", string(key), value));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// Nothing a program says about itself needs more than these two escapes.
pub(crate) fn string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
