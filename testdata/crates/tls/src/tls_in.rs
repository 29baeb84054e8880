// Both sides of TLS with a certificate of their own; included by a module for each version of
// tokio-rustls, which makes their configurations of the certificate and its key.

pub struct Tls {
    pub acceptor: TlsAcceptor,
    pub connector: TlsConnector,
}

impl Tls {
    pub fn new(version: &'static SupportedProtocolVersion) -> Tls {
        let (certificate, key) = crate::certificate();
        let (server, client) = configure(version, certificate, key);
        Tls { acceptor: Arc::new(server).into(), connector: Arc::new(client).into() }
    }

    /// The two ends of a connection whose handshake is over.
    pub async fn pair(&self) -> (client::TlsStream<TcpStream>, server::TlsStream<TcpStream>) {
        let (client, server) = connect().await;
        let (client, server) = tokio::join!(
            self.connector.connect(server_name(), client),
            self.acceptor.accept(server)
        );
        (client.expect("no handshake"), server.expect("no handshake"))
    }
}

pub fn server_name() -> Name {
    NAME.try_into().expect("bad name")
}
