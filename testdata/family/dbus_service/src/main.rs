//! A service and two clients on a D-Bus of their own, whose address is the argument: zbus with its own
//! executors, one for each connection. A method of the service waits for good, and a client for its
//! reply; the other client waits for a signal. With a second argument a third client calls another
//! method as fast as it can, and the program is never at rest.

use std::env;
use std::future::pending;
use std::io::{self, Read};
use std::{process, thread};

use futures_lite::StreamExt;
use truth::{here, say, Truth};
use zbus::connection::Builder;
use zbus::object_server::SignalEmitter;
use zbus::{interface, proxy, Connection};

struct Service;

#[interface(name = "org.example.Service")]
impl Service {
    async fn hello(&self, name: &str) -> String {
        format!("hello {name}")
    }

    async fn wait(&self) {
        here!("dbus_service::wait");
        pending::<()>().await
    }

    #[zbus(signal)]
    async fn notified(emitter: &SignalEmitter<'_>) -> zbus::Result<()>;
}

#[proxy(
    interface = "org.example.Service",
    default_service = "org.example.Service",
    default_path = "/service"
)]
trait Service {
    async fn hello(&self, name: &str) -> zbus::Result<String>;
    async fn wait(&self) -> zbus::Result<()>;
    #[zbus(signal)]
    fn notified(&self) -> zbus::Result<()>;
}

async fn connect(address: &str) -> Connection {
    Builder::address(address).unwrap().build().await.unwrap()
}

async fn serve(address: &str) -> Connection {
    let builder = Builder::address(address).unwrap().name("org.example.Service").unwrap();
    builder.serve_at("/service", Service).unwrap().build().await.unwrap()
}

async fn calls(connection: Connection) {
    let proxy = ServiceProxy::new(&connection).await.unwrap();
    here!("dbus_service::calls");
    let _ = proxy.wait().await;
}

async fn listens(connection: Connection) {
    let proxy = ServiceProxy::new(&connection).await.unwrap();
    let mut signals = proxy.receive_notified().await.unwrap();
    here!("dbus_service::listens");
    let _ = signals.next().await;
}

async fn hurries(connection: Connection) {
    let proxy = ServiceProxy::new(&connection).await.unwrap();
    while proxy.hello("you").await.is_ok() {}
}

fn main() {
    let address = env::args().nth(1).expect("the address of a bus");
    let _service = zbus::block_on(serve(&address));
    let first = zbus::block_on(connect(&address));
    let second = zbus::block_on(connect(&address));
    first.executor().spawn(calls(first.clone()), "calls").detach();
    second.executor().spawn(listens(second.clone()), "listens").detach();
    if env::args().len() > 2 {
        let third = zbus::block_on(connect(&address));
        third.executor().spawn(hurries(third.clone()), "hurries").detach();
        say("ready");
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    } else {
        Truth::new("dbus_service")
            .passes("dbus_service::wait")
            .passes("dbus_service::calls")
            .passes("dbus_service::listens")
            .publish();
    }
    loop {
        thread::park();
    }
}
