//! Two tests that end, and one that does not: two of its tasks wait for each other.

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use tokio::runtime::Runtime;
    use tokio::sync::{Barrier, Mutex};

    type Account = Arc<Mutex<u64>>;

    async fn transfer(from: Account, to: Account, both: Arc<Barrier>) {
        let mut held = from.lock().await;
        both.wait().await;
        let mut other = to.lock().await;
        *held -= 1;
        *other += 1;
    }

    /// Transfers between two accounts, in both directions at a time if the number is 2.
    fn run(tasks: usize) {
        let accounts = [Account::default(), Account::default()];
        let both = Arc::new(Barrier::new(tasks));

        *accounts[0].try_lock().unwrap() = 1;
        Runtime::new().unwrap().block_on(async {
            let started: Vec<_> = (0..tasks)
                .map(|i| {
                    let (from, to) = (&accounts[i], &accounts[1 - i]);
                    tokio::spawn(transfer(from.clone(), to.clone(), both.clone()))
                })
                .collect();
            for task in started {
                task.await.unwrap();
            }
        });
    }

    #[test]
    fn adds() {
        assert_eq!(1 + 1, 2);
    }

    #[test]
    fn transfers() {
        run(1);
    }

    #[test]
    fn transfers_in_both_directions() {
        run(2);
    }
}
