type Client = client::SendRequest<Bytes>;

/// Larger than the window of a stream.
const LARGE: usize = 200_000;

async fn drive(connection: client::Connection<TcpStream, Bytes>) {
    here!(concat!(module_path!(), "::drive"));
    let _ = connection.await;
}

async fn accept(mut connection: server::Connection<TcpStream, Bytes>) {
    here!(concat!(module_path!(), "::accept"));
    while let Some(Ok((request, answer))) = connection.accept().await {
        match request.uri().path() {
            "/silent" => keep((request, answer)),
            _ => {
                let mut answer = answer;
                let mut body = answer.send_response(Response::new(()), false).expect("no answer");
                body.send_data(Bytes::from_static(b"0123"), false).expect("cannot send");
                keep((request, answer, body));
            }
        }
    }
}

fn request(path: &str) -> Request<()> {
    Request::post(format!("http://a{path}")).body(()).expect("no request")
}

/// Waits for an answer.
async fn answer(client: Client) {
    let mut client = client.ready().await.expect("not ready");
    let (answer, body) = client.send_request(request("/silent"), true).expect("cannot send");
    here!(concat!(module_path!(), "::answer"));
    let _ = answer.await;
    drop(body);
}

/// Waits for more of a body.
async fn data(client: Client) {
    let mut client = client.ready().await.expect("not ready");
    let (answer, _) = client.send_request(request("/talks"), true).expect("cannot send");
    let mut body = answer.await.expect("no answer").into_body();
    body.data().await.expect("no data").expect("broken");
    here!(concat!(module_path!(), "::data"));
    let _ = body.data().await;
}

/// Waits for the peer to take more.
async fn capacity(client: Client) {
    let mut client = client.ready().await.expect("not ready");
    let (answer, mut body) = client.send_request(request("/silent"), false).expect("cannot send");
    body.send_data(vec![0; LARGE].into(), false).expect("cannot send");
    body.reserve_capacity(LARGE + 1000);
    while body.capacity() > 0 {
        tokio::task::yield_now().await;
    }
    here!(concat!(module_path!(), "::capacity"));
    while let Some(Ok(_)) = std::future::poll_fn(|cx| body.poll_capacity(cx)).await {}
    drop(answer);
}

/// Waits for the peer to reset the stream.
async fn reset(client: Client) {
    let mut client = client.ready().await.expect("not ready");
    let (answer, mut body) = client.send_request(request("/silent"), false).expect("cannot send");
    here!(concat!(module_path!(), "::reset"));
    let _ = std::future::poll_fn(|cx| body.poll_reset(cx)).await;
    drop(answer);
}

pub async fn start(tasks: &mut Tasks) {
    let (stream, peer) = connect().await;
    let (client, server) = tokio::join!(client::handshake(stream), server::handshake(peer));
    let (client, connection) = client.expect("no handshake");
    let server: server::Connection<TcpStream, Bytes> = server.expect("no handshake");
    tasks.spawn(&[concat!(module_path!(), "::drive")], drive(connection), |task| {
        task.property("http_role", "client")
            .property("http_version", "HTTP/2")
            .property("http_streams", 4)
            .property("http_queued", (LARGE - 65_535) as i64)
    });
    tasks.spawn(&[concat!(module_path!(), "::accept")], accept(server), |task| {
        task.waits(Wait::new("io").with("direction", "readable"))
    });
    let stream = |wants: &str| Wait::new("http_stream").with("wants", wants);
    tasks.spawn(&[concat!(module_path!(), "::answer")], answer(client.clone()), |task| {
        task.waits(stream("answer"))
    });
    tasks.spawn(&[concat!(module_path!(), "::data")], data(client.clone()), |task| {
        task.waits(stream("data"))
    });
    tasks.spawn(&[concat!(module_path!(), "::capacity")], capacity(client.clone()), |task| {
        task.waits(stream("send").with("buffered", (LARGE - 65_535) as i64))
    });
    tasks.spawn(&[concat!(module_path!(), "::reset")], reset(client), |task| {
        task.waits(stream("send").with("buffered", 0))
    });
}
