//! The same path below the crate as tokio's, with a type that looks like tokio's.

pub mod context {
    use std::cell::{Cell, RefCell};

    pub struct Context {
        handle: RefCell<Option<u32>>,
        current_task_id: Cell<u64>,
    }

    thread_local! {
        static CONTEXT: Context = const {
            Context { handle: RefCell::new(None), current_task_id: Cell::new(1 << 40) }
        };
    }

    pub fn set_handle(handle: Option<u32>) {
        CONTEXT.with(|context| *context.handle.borrow_mut() = handle);
    }

    pub fn task_id() -> u64 {
        CONTEXT.with(|context| context.current_task_id.get())
    }
}
