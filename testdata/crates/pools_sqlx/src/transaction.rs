// Included beside situations.rs, for pools whose connections begin transactions.

async fn transact(pool: Pool) {
    let transaction = pool.begin().await.unwrap();
    here!(name!("transact"));
    sleep(FOREVER).await;
    drop(transaction);
}

/// Two tasks have all connections in transactions and sleep: nothing is wrong.
pub async fn in_transactions(known: &mut Known, pool: Pool) {
    let object = shared(&pool, OFFSET);
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let task = id(&tokio::spawn(transact(pool.clone())));
        let idle = Task::idle(task, &[name!("transact")]).sleeps();
        nodes.push(known.holds(idle, task, object, "transaction.connection.0"));
    }
    passed(name!("transact"), 2).await;
    let waiter = id(&tokio::spawn(wait(pool)));
    known.waits(waiter, name!("wait"), object, &nodes);
}
