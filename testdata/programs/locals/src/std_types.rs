//! Collections, times, addresses and names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::{CString, OsString};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::sleep;
use truth::{here, locals, used, FOREVER};

pub async fn maps() {
    let mut hash = HashMap::new();
    let mut words = HashMap::new();
    for n in 0..20u32 {
        hash.insert(n, u64::from(n) * 10);
        words.insert(format!("key {}", n), n % 2 == 0);
    }
    for n in 0..10 {
        hash.remove(&n);
    }
    let no_hash: HashMap<u8, u8> = HashMap::new();
    let set: HashSet<&str> = ["a", "b", "c"].into_iter().collect();
    let tree: BTreeMap<u16, String> = (0..5).map(|n| (n, n.to_string())).collect();
    let mut tall: BTreeMap<u32, u32> = (0..28).map(|n| (n, n)).collect();
    tall.remove(&3);
    let no_tree: BTreeMap<u8, u8> = BTreeMap::new();
    let ordered: BTreeSet<char> = "hello".chars().collect();
    locals! { "locals::std_types::maps" =>
        hash, words, no_hash, set, tree, tall, no_tree, ordered
    }
    here!("locals::std_types::maps");
    sleep(FOREVER).await;
    used!(hash, words, no_hash, set, tree, tall, no_tree, ordered);
}

pub async fn deques() {
    let empty: VecDeque<u8> = VecDeque::new();
    let straight: VecDeque<u32> = (0..5).collect();
    let mut wrapped: VecDeque<u32> = VecDeque::with_capacity(8);
    wrapped.extend(0..6);
    wrapped.drain(..4);
    wrapped.extend(6..10);
    let heap: std::collections::BinaryHeap<u8> = [3, 1, 2].into_iter().collect();
    locals! { "locals::std_types::deques" =>
        empty, straight, wrapped, heap
    }
    here!("locals::std_types::deques");
    sleep(FOREVER).await;
    used!(empty, straight, wrapped, heap);
}

pub async fn times() {
    let none = Duration::ZERO;
    let seconds = Duration::from_secs(90);
    let half = Duration::from_millis(1500);
    let millis = Duration::from_micros(2500);
    let micros = Duration::from_nanos(1001);
    let nanos = Duration::from_nanos(17);
    let instant = std::time::Instant::now();
    let tokio_instant = tokio::time::Instant::now();
    let system = std::time::SystemTime::now();
    locals! { "locals::std_types::times" =>
        none, seconds, half, millis, micros, nanos, instant, tokio_instant, system
    }
    here!("locals::std_types::times");
    sleep(FOREVER).await;
    used!(none, seconds, half, millis, micros, nanos, instant, tokio_instant, system);
}

pub async fn addresses() {
    let v4 = Ipv4Addr::new(127, 0, 0, 1);
    let v6 = Ipv6Addr::LOCALHOST;
    let long = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 1, 0, 0, 1);
    let mapped = Ipv4Addr::new(1, 2, 3, 4).to_ipv6_mapped();
    let ip = IpAddr::V4(v4);
    let socket = SocketAddr::new(ip, 8080);
    let socket_v4 = SocketAddrV4::new(v4, 1);
    let socket_v6 = SocketAddrV6::new(long, 443, 0, 3);
    let either = SocketAddr::V6(SocketAddrV6::new(v6, 80, 0, 0));
    locals! { "locals::std_types::addresses" =>
        v4, v6, long, mapped, ip, socket, socket_v4, socket_v6, either
    }
    here!("locals::std_types::addresses");
    sleep(FOREVER).await;
    used!(v4, v6, long, mapped, ip, socket, socket_v4, socket_v6, either);
}

pub async fn names() {
    let path = PathBuf::from("/tmp/a file");
    let borrowed: &Path = Path::new("relative");
    let os = OsString::from("os");
    let c = CString::new("c").unwrap();
    let bytes = Bytes::from_static(b"GET /\r\n\x00\xff\"");
    let slice = bytes.slice(..3);
    let mut buffer = BytesMut::with_capacity(64);
    buffer.extend_from_slice(b"buffer");
    let range = 1..5u8;
    let inclusive = 1..=5u8;
    locals! { "locals::std_types::names" =>
        path, borrowed, os, c, bytes, slice, buffer, range, inclusive
    }
    here!("locals::std_types::names");
    sleep(FOREVER).await;
    used!(path, borrowed, os, c, bytes, slice, buffer, range, inclusive);
}
