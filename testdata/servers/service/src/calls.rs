//! The clients of the HTTP front and of the gRPC health service.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::HealthCheckRequest;

pub async fn serve_health() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("cannot listen");
    let address = listener.local_addr().expect("no address");
    let (_, health) = tonic_health::server::health_reporter();
    let server = Server::builder().add_service(health);
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    address
}

pub struct Calls {
    http: reqwest::Client,
    address: SocketAddr,
    health: HealthClient<Channel>,
}

impl Calls {
    pub async fn new(address: SocketAddr, grpc: SocketAddr) -> Calls {
        let channel = Channel::from_shared(format!("http://{}", grpc))
            .expect("a bad address")
            .connect()
            .await
            .expect("cannot connect");
        Calls { http: reqwest::Client::new(), address, health: HealthClient::new(channel) }
    }

    async fn get(&self, path: &str) -> String {
        let url = format!("http://{}{}", self.address, path);
        let answer = self.http.get(url).send().await.expect("no answer");
        answer.text().await.expect("no text")
    }

    pub async fn order(&self, number: usize) {
        let text = self.get(&format!("/order/{}", number)).await;
        assert!(text.starts_with(&format!("order {} of", number * 2)), "{}", text);
    }

    pub async fn report(&self, number: usize) {
        let text = self.get(&format!("/report/{}", number)).await;
        assert_eq!(text, format!("price {}", number + 1));
    }

    pub async fn health(&mut self) {
        let request = HealthCheckRequest { service: String::new() };
        self.health.check(request).await.expect("not healthy");
    }
}
