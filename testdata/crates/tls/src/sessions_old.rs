//! Sessions of tokio-rustls 0.24.

use futures_util::future::poll_immediate;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls_old::rustls::version::{TLS12, TLS13};
use tokio_rustls_old::{client, server, TlsAcceptor, TlsConnector, TlsStream};
use truth::{here, Wait};

use crate::old::{server_name, Tls};
use crate::{connect, keep, Tasks, NAME};

include!("sessions_in.rs");
