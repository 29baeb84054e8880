//! What the code under a debugger's steps says of itself: which of its lines it executes, in order.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static LINES: Mutex<BTreeMap<u32, Vec<u32>>> = Mutex::new(BTreeMap::new());

/// One instance of a coroutine. Each line of its body calls one of these methods once, before
/// anything else that the line does.
#[derive(Clone, Copy)]
pub struct Me(pub u32);

impl Me {
    fn record(self, place: &Location<'_>) -> Me {
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry(self.0).or_default().push(place.line());
        self
    }

    /// This instance executes the line of the call.
    #[inline(never)]
    #[track_caller]
    pub fn at(self) -> Me {
        self.record(Location::caller())
    }

    /// The same, with a result that is used.
    #[inline(never)]
    #[track_caller]
    pub fn add(self, a: u32, b: u32) -> u32 {
        self.record(Location::caller());
        a + b
    }

    /// Another instance, by a number that is so much higher.
    #[inline(never)]
    #[track_caller]
    pub fn other(self, number: u32) -> Me {
        self.record(Location::caller());
        Me(self.0 + number)
    }

    /// A value as it is.
    #[inline(never)]
    #[track_caller]
    pub fn pass<T>(self, value: T) -> T {
        self.record(Location::caller());
        value
    }

    /// The same, of a line that is known already.
    pub fn pass_at<T>(self, place: &Location<'_>, value: T) -> T {
        self.record(place);
        value
    }

    #[inline(never)]
    #[track_caller]
    pub fn ms(self, ms: u64) -> Duration {
        self.record(Location::caller());
        Duration::from_millis(ms)
    }

    /// For the head of a loop, which is executed once more than its body.
    #[inline(never)]
    #[track_caller]
    pub fn rounds(self, rounds: u32) -> Rounds {
        Rounds { me: self, place: Location::caller(), left: rounds }
    }
}

pub struct Rounds {
    me: Me,
    place: &'static Location<'static>,
    left: u32,
}

impl Iterator for Rounds {
    type Item = u32;

    #[inline(never)]
    fn next(&mut self) -> Option<u32> {
        self.me.record(self.place);
        self.left = self.left.checked_sub(1)?;
        Some(self.left)
    }
}

/// The lines of each instance.
pub fn tell(scenario: &str) -> String {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let lines: Vec<String> =
        lines.iter().map(|(me, lines)| format!("\"{me}\":{lines:?}")).collect();
    format!("{{\"scenario\":\"{scenario}\",\"lines\":{{{}}}}}", lines.join(","))
}
