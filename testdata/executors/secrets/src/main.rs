//! Variables whose names, members or keys say that they are secret: each secret is or contains
//! "hunter2", and nothing else does.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future;
use std::thread;

use http::{HeaderMap, HeaderValue};
use truth::{here, used, Truth};

struct Account {
    user: String,
    password: String,
    api_keys: Vec<String>,
}

/// One that does not print what it holds: asyncdbg cannot know that.
struct Masked {
    secret: String,
    monkey: u8,
}

impl fmt::Debug for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

fn hunter(what: &str) -> String {
    format!("{} hunter2", what)
}

async fn serve(access_token: String, account: Account) {
    let masked = Masked { secret: hunter("masked"), monkey: 7 };
    let boxed = Some(Box::new(Masked { secret: hunter("boxed"), monkey: 8 }));
    let mut headers = HeaderMap::new();
    headers.insert(http::header::AUTHORIZATION, HeaderValue::from_static("Bearer hunter2"));
    headers.insert("x-api-key", HeaderValue::from_static("hunter2"));
    headers.append("x-api-key", HeaderValue::from_static("another hunter2"));
    headers.insert(http::header::ACCEPT, HeaderValue::from_static("text/plain"));
    let environment = HashMap::from([("DB_PASSWORD".to_string(), hunter("environment"))]);
    let sorted = BTreeMap::from([("token", hunter("sorted")), ("turkey", "fresh".to_string())]);
    let pairs = vec![("Authorization".to_string(), hunter("pair"))];
    let keyboard = "qwertz";
    here!("secrets::serve");
    future::pending::<()>().await;
    let read = (&account.user, &account.password, &account.api_keys, &masked.secret, masked.monkey);
    used!(access_token, read, boxed, headers, environment, sorted, pairs, keyboard);
}

fn main() {
    Truth::new("secrets").passes("secrets::serve").publish();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let account = Account {
        user: "alice".to_string(),
        password: hunter("account"),
        api_keys: vec![hunter("keys")],
    };
    runtime.spawn(serve(hunter("token"), account));
    loop {
        thread::park();
    }
}
