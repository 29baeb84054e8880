//! Who waits for whom, and what of it never ends.

use crate::json::{array, id, object, or_null, string};

/// Who waits or holds: a task, or the future that a thread drives by `block_on`.
#[derive(Clone, Copy)]
pub struct Node {
    task: Option<u64>,
    tid: Option<u32>,
}

impl Node {
    pub fn task(id: Option<u64>) -> Node {
        assert!(id.is_some(), "a task without an id");
        Node { task: id, tid: None }
    }

    /// The thread with this id of the kernel.
    pub fn thread(tid: u32) -> Node {
        Node { task: None, tid: Some(tid) }
    }

    fn json(&self) -> String {
        object(&[("task", id(self.task)), ("tid", or_null(self.tid))])
    }
}

/// How well it can be seen from outside who holds something.
#[derive(Clone, Copy)]
enum Sight {
    Clear,
    /// The guards lie on the stacks of threads, where a compiler may leave no trace of them.
    Native,
    /// There is also what is left of a guard that was dropped, and which looks like one.
    Stale,
}

struct Edge {
    who: Node,
    kind: &'static str,
    object: Option<usize>,
    holders: Vec<Node>,
    sight: Sight,
}

struct Deadlock {
    members: Vec<Node>,
    hard: bool,
    perhaps: bool,
    possible: Option<bool>,
}

struct Futurelock {
    who: Node,
    object: Option<usize>,
    granted: bool,
    temporary: bool,
}

struct Lost {
    who: Node,
    proven: bool,
}

/// All that a program knows of its own wait-for graph.
///
/// What is not listed as a deadlock, a futurelock or lost must not be taken for one.
#[derive(Default)]
pub struct Graph {
    edges: Vec<Edge>,
    deadlocks: Vec<Deadlock>,
    futurelocks: Vec<Futurelock>,
    behind: Vec<Node>,
    lost: Vec<Lost>,
    silent: Vec<Node>,
}

/// The address of what is waited for.
pub fn address<T>(of: &T) -> Option<usize> {
    Some(of as *const T as usize)
}

impl Graph {
    pub fn new() -> Graph {
        Graph::default()
    }

    /// It waits for something of this kind, which these hold and nobody else.
    pub fn waits(&mut self, who: Node, kind: &'static str, object: Option<usize>, by: &[Node]) {
        self.edges.push(Edge { who, kind, object, holders: by.to_vec(), sight: Sight::Clear });
    }

    /// The same, by guards on the stacks of threads, where a compiler may leave no trace of them.
    pub fn waits_for_stack(
        &mut self,
        who: Node,
        kind: &'static str,
        object: Option<usize>,
        by: &[Node],
    ) {
        self.edges.push(Edge { who, kind, object, holders: by.to_vec(), sight: Sight::Native });
    }

    /// The same, and others have what looks like a guard but is what was left of one.
    pub fn waits_or_stale(
        &mut self,
        who: Node,
        kind: &'static str,
        object: Option<usize>,
        by: &[Node],
    ) {
        self.edges.push(Edge { who, kind, object, holders: by.to_vec(), sight: Sight::Stale });
    }

    /// None of these will ever go on, and they alone are the reason.
    pub fn deadlock(&mut self, members: &[Node]) {
        self.add_deadlock(members, false, false);
    }

    fn add_deadlock(&mut self, members: &[Node], hard: bool, perhaps: bool) {
        let members = members.to_vec();
        self.deadlocks.push(Deadlock { members, hard, perhaps, possible: None });
    }

    /// None of these will ever go on, and that must be told without a doubt.
    pub fn proven_deadlock(&mut self, members: &[Node]) {
        let members = members.to_vec();
        self.deadlocks.push(Deadlock {
            members,
            hard: false,
            perhaps: false,
            possible: Some(false),
        });
    }

    /// None of these will go on by itself, but there is somebody who may end one of them, and that
    /// must be told as what is only possible.
    pub fn possible_deadlock(&mut self, members: &[Node]) {
        let members = members.to_vec();
        self.deadlocks.push(Deadlock {
            members,
            hard: false,
            perhaps: false,
            possible: Some(true),
        });
    }

    /// The same, and it may be that nobody can see it from outside.
    pub fn hard_deadlock(&mut self, members: &[Node]) {
        self.add_deadlock(members, true, false);
    }

    /// They can go on, but nobody can see that from outside: it may be called a deadlock, but not
    /// for certain.
    pub fn perhaps(&mut self, members: &[Node]) {
        self.add_deadlock(members, false, true);
    }

    /// It waits behind a future of its own that it does not poll. `granted`: that future has
    /// been given what both want.
    pub fn futurelock(&mut self, who: Node, object: Option<usize>, granted: bool) {
        self.futurelocks.push(Futurelock { who, object, granted, temporary: false });
    }

    /// It has been given something by a future that it does not poll now, but will: others wait
    /// for that meanwhile.
    pub fn unpolled(&mut self, who: Node, object: Option<usize>) {
        self.futurelocks.push(Futurelock { who, object, granted: true, temporary: true });
    }

    /// It will never go on because of a deadlock or futurelock that it is not part of.
    pub fn behind(&mut self, who: Node) {
        self.behind.push(who);
    }

    /// Nobody will ever wake it. `proven`: it owns the only other end itself.
    pub fn lost(&mut self, who: Node, proven: bool) {
        self.lost.push(Lost { who, proven });
    }

    /// No waker of it is stored anywhere.
    pub fn silent(&mut self, who: Node) {
        self.silent.push(who);
    }

    pub(crate) fn json(&self) -> String {
        let nodes = |nodes: &[Node]| array(nodes.iter().map(Node::json));
        let edge = |edge: &Edge| {
            let at = edge.object.map_or("null".to_string(), |at| string(&format!("{:#x}", at)));
            object(&[
                ("who", edge.who.json()),
                ("kind", string(edge.kind)),
                ("object", at),
                ("holders", nodes(&edge.holders)),
                ("native", matches!(edge.sight, Sight::Native).to_string()),
                ("stale", matches!(edge.sight, Sight::Stale).to_string()),
            ])
        };
        let deadlock = |deadlock: &Deadlock| {
            object(&[
                ("members", nodes(&deadlock.members)),
                ("hard", deadlock.hard.to_string()),
                ("perhaps", deadlock.perhaps.to_string()),
                ("possible", or_null(deadlock.possible)),
            ])
        };
        let futurelock = |lock: &Futurelock| {
            let at = lock.object.map_or("null".to_string(), |at| string(&format!("{:#x}", at)));
            object(&[
                ("who", lock.who.json()),
                ("object", at),
                ("granted", lock.granted.to_string()),
                ("temporary", lock.temporary.to_string()),
            ])
        };
        let lost =
            |lost: &Lost| object(&[("who", lost.who.json()), ("proven", lost.proven.to_string())]);
        object(&[
            ("waits", array(self.edges.iter().map(edge))),
            ("deadlocks", array(self.deadlocks.iter().map(deadlock))),
            ("futurelocks", array(self.futurelocks.iter().map(futurelock))),
            ("behind", nodes(&self.behind)),
            ("lost", array(self.lost.iter().map(lost))),
            ("silent", nodes(&self.silent)),
        ])
    }
}
