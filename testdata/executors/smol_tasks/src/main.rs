//! smol: tasks on its global executor, which a thread of smol's runs, and a future in `block_on`.

use std::future;

use truth::{here, Truth};

async fn wait_for_good() {
    here!("smol_tasks::wait_for_good");
    future::pending::<()>().await
}

async fn nap() {
    here!("smol_tasks::nap");
    smol::Timer::after(truth::FOREVER).await;
}

fn main() {
    Truth::new("smol_tasks")
        .passes("smol_tasks::wait_for_good")
        .passes("smol_tasks::nap")
        .publish();
    smol::spawn(wait_for_good()).detach();
    smol::block_on(nap());
}
