//! Takes the updates that a program with console-subscriber sends, as tokio-console does. Says `ready`
//! when it has the first one, and when its input ends a line of JSON with what came.
//!
//! usage: console_client URL

use std::env;
use std::error::Error;
use std::io::{self, Read};
use std::thread;

use console_api::instrument::instrument_client::InstrumentClient;
use console_api::instrument::{InstrumentRequest, Update};
use tokio::sync::oneshot;

#[derive(Default)]
struct Received {
    updates: usize,
    tasks: usize,
    resources: usize,
    async_ops: usize,
    dropped: u64,
}

impl Received {
    fn add(&mut self, update: Update) {
        self.updates += 1;
        if let Some(tasks) = update.task_update {
            self.tasks += tasks.new_tasks.len();
            self.dropped += tasks.dropped_events;
        }
        if let Some(resources) = update.resource_update {
            self.resources += resources.new_resources.len();
            self.dropped += resources.dropped_events;
        }
        if let Some(async_ops) = update.async_op_update {
            self.async_ops += async_ops.new_async_ops.len();
            self.dropped += async_ops.dropped_events;
        }
    }

    fn print(&self) {
        println!(
            "{{\"updates\":{},\"tasks\":{},\"resources\":{},\"async_ops\":{},\"lost\":{}}}",
            self.updates, self.tasks, self.resources, self.async_ops, self.dropped
        );
    }
}

fn end_of_input() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("usage: console_client URL")?;
    // An update is as large as what happened since the last one.
    let mut client = InstrumentClient::connect(url).await?.max_decoding_message_size(usize::MAX);
    let mut updates = client.watch_updates(InstrumentRequest {}).await?.into_inner();
    let mut received = Received::default();
    let mut ended = end_of_input();
    loop {
        tokio::select! {
            update = updates.message() => {
                received.add(update?.ok_or("the server sends no more")?);
                if received.updates == 1 {
                    println!("ready");
                }
            }
            _ = &mut ended => break,
        }
    }
    received.print();
    Ok(())
}
