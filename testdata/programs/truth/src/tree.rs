//! The tree of a task's futures, as far as they are the program's own coroutines.

use std::collections::BTreeMap;

use crate::json::{array, function_of, object, or_null, string};
use crate::Place;

/// One coroutine of the program, or a branch without one.
///
/// Futures of libraries are left out: their children are those of the coroutine around them.
#[derive(Clone)]
pub struct Node {
    /// As in chains, with the word that names the await point; `None` for a library's.
    name: Option<&'static str>,
    edge: Option<String>,
    branch: &'static str,
    state: Option<&'static str>,
    count: usize,
    /// Another task has it in its tree too, and counts it.
    elsewhere: bool,
    note: Option<String>,
    children: Vec<Node>,
}

/// A coroutine suspended at the await point of this name.
pub fn at(name: &'static str) -> Node {
    Node::new(Some(name), Some("suspended"))
}

/// A coroutine that was never polled.
pub fn fresh(name: &'static str) -> Node {
    Node::new(Some(name), Some("unresumed"))
}

/// A coroutine that returned but was not dropped.
pub fn returned(name: &'static str) -> Node {
    Node::new(Some(name), Some("returned"))
}

/// A branch in which there is no coroutine of the program.
pub fn library() -> Node {
    Node::new(None, None)
}

/// A branch that is finished; what is left of it is its output.
pub fn done() -> Node {
    library().branch("done")
}

impl Node {
    fn new(name: Option<&'static str>, state: Option<&'static str>) -> Node {
        Node {
            name,
            edge: Some("await".to_string()),
            branch: "polled",
            state,
            count: 1,
            elsewhere: false,
            note: None,
            children: Vec::new(),
        }
    }

    fn branch(mut self, branch: &'static str) -> Node {
        self.branch = branch;
        self
    }

    fn child(mut self, edge: Option<String>, node: Node) -> Node {
        self.children.push(Node { edge, ..node });
        self
    }

    /// It awaits this, directly or through futures of libraries.
    pub fn then(self, node: Node) -> Node {
        self.child(Some("await".to_string()), node)
    }

    /// It polls this, and it is not said how that looks.
    pub fn polls(self, node: Node) -> Node {
        self.child(None, node)
    }

    pub fn select(self, arm: usize, node: Node) -> Node {
        self.child(Some(format!("select arm {}", arm)), node)
    }

    pub fn join(self, arm: usize, node: Node) -> Node {
        self.child(Some(format!("join arm {}", arm)), node)
    }

    /// It is a member of a set of futures, in which there is no order.
    pub fn set(self, node: Node) -> Node {
        self.child(Some("set".to_string()), node)
    }

    /// It is stored in the frame, which awaits something else.
    pub fn held(self, node: Node) -> Node {
        self.child(Some("held".to_string()), node.branch("held"))
    }

    /// An arm that is not polled: its precondition is false, or it has finished.
    pub fn disabled(self) -> Node {
        self.branch("disabled")
    }

    /// There are so many of it.
    pub fn times(mut self, count: usize) -> Node {
        self.count = count;
        self
    }

    /// It, or a future of a library between its parent and it, has this note.
    pub fn note(mut self, note: &str) -> Node {
        self.note = Some(note.to_string());
        self
    }

    /// It is there without doubt: no note says that it may have been moved out.
    pub fn certain(self) -> Node {
        self.note("")
    }

    /// Another task has the same coroutine in its tree.
    pub fn shared(mut self) -> Node {
        self.elsewhere = true;
        self
    }

    /// Adds how often each await point is to be passed.
    pub(crate) fn count_visits(&self, times: usize, wanted: &mut BTreeMap<&'static str, usize>) {
        let times = if self.elsewhere { 0 } else { times * self.count };
        if let (Some(name), Some("suspended")) = (self.name, self.state) {
            *wanted.entry(name).or_insert(0) += times;
        }
        for child in &self.children {
            child.count_visits(times, wanted);
        }
    }

    pub(crate) fn json(&self, places: &[Place]) -> String {
        let suspended = self.state == Some("suspended");
        let place = places.iter().find(|place| Some(place.name) == self.name && suspended);
        let text = |text: Option<&str>| text.map_or("null".to_string(), string);
        object(&[
            ("function", text(self.name.map(function_of))),
            ("edge", text(self.edge.as_deref())),
            ("branch", string(self.branch)),
            ("state", text(self.state)),
            ("line", or_null(place.map(|place| place.line))),
            ("note", text(self.note.as_deref())),
            ("count", self.count.to_string()),
            ("children", array(self.children.iter().map(|child| child.json(places)))),
        ])
    }
}
