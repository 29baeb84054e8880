//! Several futures in one task.

use std::pin::pin;
use std::sync::mpsc::Sender;

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use tokio::time::{sleep, timeout};

use crate::record::Me;
use crate::work::{check, forever, poll_once, value, yields, Refused};

/// The instances have different numbers, and turns: each suspends more often than the one before.
pub async fn arm(me: Me) -> u32 {
    let a = yields(me.at(), 1 + me.0).await;
    let b = yields(me.at(), 2).await;
    let c = value(me.at(), 3).await;
    let d = yields(me.at(), 1).await;
    me.add(a + b, c + d)
}

/// Two instances of one async fn.
pub async fn join(me: Me) -> u32 {
    let (a, b) = tokio::join!(arm(me.other(1)), arm(Me(2)));
    me.add(a, b)
}

pub async fn unordered(me: Me) -> u32 {
    let mut arms: FuturesUnordered<_> = me.pass((1..4).map(|n| arm(Me(n))).collect());
    let mut sum = me.add(0, 0);
    while let Some(more) = me.pass(arms.next()).await {
        sum += me.add(more, 0);
    }
    me.add(sum, 0)
}

pub async fn buffered(me: Me) -> u32 {
    let arms = stream::iter(me.pass((1..5).map(|n| arm(Me(n))))).buffered(2);
    let sum = arms.fold(me.add(0, 0), |sum, more| async move { sum + more }).await;
    me.add(sum, 0)
}

/// Each level is in a box of the one above.
pub async fn descend(me: Me, depth: u32) -> u32 {
    let a = yields(me.at(), 1).await;
    if me.add(depth, 0) == 0 {
        return me.add(a, 0);
    }
    let b = Box::pin(descend(me.other(1), depth - 1)).await;
    let c = yields(me.at(), 1).await;
    me.add(a + b, c)
}

/// A branch of a select that loses.
pub async fn loser(me: Me, suspended: Option<Sender<()>>) -> u32 {
    let a = yields(me.at(), 1).await;
    forever(me.at(), suspended).await;
    me.add(a, 1)
}

pub async fn select(me: Me) -> u32 {
    let number = me.other(1);
    let a = tokio::select! {
        a = loser(number, None) => a,
        a = yields(me, 6) => {
            me.add(a, 1)
        }
    };
    let b = yields(me.at(), 1).await;
    me.add(a, b)
}

/// A select in a loop does not drop what it borrows.
pub async fn by_reference(me: Me) -> u32 {
    let number = me.other(1);
    let mut arm = pin!(arm(me.pass(number)));
    let mut sum = me.add(0, 0);
    while me.add(sum, 0) < 8 {
        tokio::select! {
            biased;
            more = &mut arm => {
                sum = me.add(more, 0);
            }
            more = yields(me, 1) => {
                sum += me.add(more, 0);
            }
        }
    }
    me.add(sum, 0)
}

pub async fn elapses(me: Me) -> u32 {
    let number = me.other(1);
    let end = timeout(me.ms(5), loser(number, None)).await;
    let a = me.add(end.is_err() as u32, 0);
    let end = timeout(me.ms(5000), value(me, 1)).await;
    me.add(a, end.unwrap_or(0))
}

/// The first one is dropped at the error of the second.
pub async fn try_join(me: Me) -> Result<u32, Refused> {
    let first = good(me.other(1));
    let ends = tokio::try_join!(first, check(me.at(), false));
    let a = me.add(ends.is_err() as u32, 0);
    me.pass(ends.map(|(first, second)| a + first + second))
}

async fn good(me: Me) -> Result<u32, Refused> {
    Ok(loser(me, None).await)
}

/// Suspended, and then dropped by who has it.
pub async fn drops(me: Me) -> u32 {
    let mut other = Box::pin(loser(me.other(1), None));
    poll_once(me.at(), &mut other).await;
    yields(me.at(), 1).await;
    poll_once(me.at(), &mut other).await;
    drop(me.pass(other));
    sleep(me.ms(1)).await;
    me.add(1, 2)
}

/// What a macro expands to has the lines of its caller.
pub async fn macros(me: Me) -> u32 {
    let (first, second) = (yields(me.at(), 1), yields(me, 4));
    let a = tokio::select! { a = first => me.add(a, 0), a = second => a };
    let (b, c) = tokio::join!(yields(me.at(), 1), yields(me, 2));
    let d = matches!(me.add(b, c), 1..=5) as u32;
    assert_eq!(me.add(d, 0), 1);
    let (e, f) = tokio::join!(yields(me.at(), 2), value(me, 2));
    me.add(a + d, e + f)
}
