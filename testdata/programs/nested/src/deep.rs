//! Two modules deep.

use truth::here;

pub async fn fourth<T: Clone + Send + Sync>(value: T) -> Vec<T> {
    let values = vec![value];
    here!("nested::deep::fourth");
    deeper::fifth(&values).await;
    values
}

pub mod deeper {
    use tokio::time::sleep;
    use truth::{here, FOREVER};

    pub async fn fifth<T: Sync>(values: &[T]) -> usize {
        here!("nested::deep::deeper::fifth");
        sleep(FOREVER).await;
        values.len()
    }
}
