//! One await after the other.

use tokio::sync::mpsc::{channel, Receiver};
use tokio::time::sleep;

use crate::record::Me;
use crate::work::{answer, check, hop, value, yields, Refused};

/// None of them suspends.
pub async fn ready(me: Me) -> u32 {
    let a = value(me.at(), 1).await;
    let b = value(me.at(), 2).await;
    let c = me.add(a, b);
    let d = value(me.at(), 3).await;
    me.add(c, d)
}

/// No await at all.
pub async fn plain(me: Me) -> u32 {
    let a = me.add(1, 2);
    let b = me.add(a, 3);
    let c = me.add(b, 4);
    let d = me.add(c, 5);
    me.add(d, 6)
}

/// Its frame is large: debug info describes the base of such a frame in another way.
pub async fn large(me: Me) -> u32 {
    let bytes = me.pass([1_u8; 8192]);
    let a = me.add(u32::from(bytes[1]), 2);
    let b = yields(me.at(), 2).await;
    me.add(a, b)
}

pub async fn timer(me: Me) -> u32 {
    sleep(me.ms(2)).await;
    let a = me.add(1, 2);
    sleep(me.ms(3)).await;
    sleep(me.ms(1)).await;
    me.add(a, 3)
}

/// Each await ends on another worker.
pub async fn migrates(me: Me) -> u32 {
    hop(me.at()).await;
    let a = yields(me.at(), 3).await;
    hop(me.at()).await;
    hop(me.at()).await;
    let b = yields(me.at(), 1).await;
    me.add(a, b)
}

pub async fn rounds(me: Me) -> u32 {
    let mut sum = me.add(0, 0);
    for round in me.rounds(3) {
        sum += yields(me.at(), round).await;
        sum = me.add(sum, 1);
    }
    me.add(sum, 1)
}

pub async fn branches(me: Me) -> u32 {
    let a = yields(me.at(), 1).await;
    if me.add(a, 0) == 1 {
        yields(me.at(), 2).await;
    } else {
        yields(me.at(), 3).await;
    }
    match me.add(a, 1) {
        1 => me.add(a, 2),
        _ => me.add(a, 3),
    }
}

/// What it has across the awaits is dropped at its end.
pub async fn pauses(me: Me) -> usize {
    let mut numbers = me.pass(vec![1, 2, 3]);
    sleep(me.ms(2)).await;
    let a = push(me.at(), &mut numbers).await;

    sleep(me.ms(2)).await;
    let b = push(me.at(), &mut numbers).await;
    me.pass(numbers.len() + a + b)
}

async fn push(_: Me, numbers: &mut Vec<usize>) -> usize {
    numbers.push(numbers.len());
    numbers.len()
}

/// Two lines of stdin.
pub async fn waits(me: Me) -> u32 {
    let a = answer(me.at()).await;
    let b = answer(me.at()).await;
    me.add(a, b)
}

/// Lines that call nothing but what they await.
pub async fn enters(me: Me) -> u32 {
    let a = value(me, 1).await;
    let b = yields(me, 2).await;
    me.add(a, b)
}

/// A message each time, until the task has used up its budget and tokio suspends it.
pub async fn budget(me: Me) -> u32 {
    let (sender, mut messages) = channel(1000);
    for number in 0..1000 {
        let _ = sender.try_send(number);
    }
    budget_used(me, &mut messages).await
}

async fn drain(_: Me, messages: &mut Receiver<u32>, number: u32) -> u32 {
    for _ in 0..number {
        messages.recv().await;
    }
    number
}

pub async fn budget_used(me: Me, messages: &mut Receiver<u32>) -> u32 {
    let a = drain(me.at(), messages, 126).await;
    let b = drain(me.at(), messages, 1).await;
    let c = drain(me.at(), messages, 1).await;
    let d = drain(me.at(), messages, 1).await;
    let e = drain(me.at(), messages, 400).await;
    me.add(a + b + c, d + e)
}

/// Returns at the second `?`.
pub async fn error(me: Me) -> Result<u32, Refused> {
    let a = check(me.at(), true).await?;
    let b = check(me.at(), false).await?;
    Ok(me.add(a, b))
}

/// A loop with a body of one line: its jump back leads into the middle of its head.
pub async fn repeats(me: Me) -> u32 {
    let mut all = me.pass(Vec::new());
    for round in 0..me.pass(3) {
        all.push(me.add(round, 1));
    }
    let more = yields(me.at(), 2).await;
    me.add(all[0], more)
}

/// The compiler sets constants before the jump by the state, and so at every poll.
pub async fn hoists(me: Me) -> u32 {
    let limit = 2;
    let sum = me.add(limit, 0);
    let _name = "rounds";
    let more = yields(me.at(), 2).await;
    me.add(sum, more)
}
