//! Streams of h2 0.3.

use bytes::Bytes;
use tokio::net::TcpStream;
use truth::{here, Wait};

use crate::{connect, keep, Tasks};
use h2_03::{client, server};
use http_02::{Request, Response};

include!("streams_in.rs");
