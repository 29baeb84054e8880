//! A lazily initialised thread-local that needs a destructor.

use std::cell::RefCell;

thread_local! {
    static CONTEXT: RefCell<String> = RefCell::new("session".to_string());
}

pub fn enter(name: &str) {
    CONTEXT.with(|context| context.borrow_mut().push_str(name));
}

pub fn length() -> usize {
    CONTEXT.with(|context| context.borrow().len())
}
