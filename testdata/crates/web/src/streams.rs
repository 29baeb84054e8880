//! Streams of h2 0.4.

use bytes::Bytes;
use tokio::net::TcpStream;
use truth::{here, Wait};

use crate::{connect, keep, Tasks};
use h2::{client, server};
use hyper::{Request, Response};

include!("streams_in.rs");
