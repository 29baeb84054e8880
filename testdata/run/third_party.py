"""Servers that nobody here wrote, as Cargo installs them from its registry, and clients that load them.

A row of SERVERS names a package and how its processes are started; its clients hold connections
to them. Everything is on the loopback interface.
"""

import socket
import subprocess
import threading
import time
from pathlib import Path

CLIENTS = 6
# Between two requests of a client, in seconds, so that the load is bounded.
PAUSE = 0.002
TIMEOUT = 30


class Failure(Exception):
    pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def connect(port):
    """A connection to the port; waits until somebody listens there."""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def receive(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise Failure("the server closed a connection")
        data += piece
    return data


def receive_until(connection, end):
    data = b""
    while not data.endswith(end):
        data += receive(connection, 1)
    return data


class Http:
    """Requests one after another on a connection that is kept."""

    def __init__(self, port):
        self.connection = connect(port)

    def request(self):
        self.connection.sendall(b"GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = receive_until(self.connection, b"\r\n\r\n").lower()
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise Failure(f"not served: {head!r}")
        length = next(l for l in head.split(b"\r\n") if l.startswith(b"content-length:"))
        receive(self.connection, int(length.split(b":")[1]))


class HttpStuck:
    """Asks for a large file and reads none of it: the server waits until it can write."""

    def __init__(self, port):
        self.connection = socket.socket()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.connection.connect(("127.0.0.1", port))
        self.connection.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")


class HttpHalf:
    """Sends half a request: the server waits until it can read."""

    def __init__(self, port):
        self.connection = connect(port)
        self.connection.sendall(b"GET /small HTTP/1.1\r\nHost: loc")


class Redis:
    def __init__(self, port):
        self.connection = connect(port)

    def request(self):
        self.connection.sendall(b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")
        if receive_until(self.connection, b"\r\n") != b"+OK\r\n":
            raise Failure("SET was refused")
        self.connection.sendall(b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n")
        receive(self.connection, len(b"$5\r\nvalue\r\n"))


class RedisSubscriber:
    def __init__(self, port):
        self.connection = connect(port)
        self.connection.sendall(b"*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n")
        receive_until(self.connection, b":1\r\n")


class Mqtt:
    """Publishes with an acknowledgement, on a connection of MQTT 3.1.1."""

    def __init__(self, port, topic="t/data"):
        self.connection = connect(port)
        self.topic = topic.encode()
        name = f"c{id(self):x}".encode()
        head = b"\x00\x04MQTT\x04\x02\x00\x3c" + len(name).to_bytes(2, "big") + name
        self.send(0x10, head)
        if receive(self.connection, 4)[:2] != b"\x20\x02":
            raise Failure("CONNECT was refused")

    def send(self, kind, body):
        self.connection.sendall(bytes([kind, len(body)]) + body)

    def request(self):
        topic = len(self.topic).to_bytes(2, "big") + self.topic
        self.send(0x32, topic + b"\x00\x01" + b"payload")
        if receive(self.connection, 4)[0] != 0x40:
            raise Failure("PUBLISH was not acknowledged")


class MqttSubscriber(Mqtt):
    def __init__(self, port):
        super().__init__(port)
        topic = b"quiet/#"
        self.send(0x82, b"\x00\x01" + len(topic).to_bytes(2, "big") + topic + b"\x00")
        if receive(self.connection, 5)[0] != 0x90:
            raise Failure("SUBSCRIBE was refused")


class Echo:
    """Sends a line through the server to the echo behind it."""

    def __init__(self, port):
        end = time.monotonic() + TIMEOUT
        while True:
            self.connection = connect(port)
            try:
                self.request()
                return
            except (Failure, ConnectionError):
                # The tunnel is not there yet.
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def request(self):
        self.connection.sendall(b"there and back\n")
        receive(self.connection, len(b"there and back\n"))


def serve_echo():
    """A port that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection):
        with connection:
            while data := connection.recv(4096):
                connection.sendall(data)

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


class Running:
    """Processes of a server, and the clients that load them."""

    def __init__(self, work):
        self.work = work
        self.processes = []
        self.threads = []
        self.idle = []
        self.failures = []
        self.go = threading.Event()
        self.end = threading.Event()
        self.held = threading.Semaphore(0)

    def start(self, *command):
        log = open(f"{self.work}/log", "ab")
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.work
        )
        log.close()
        self.processes.append(process)

    def write(self, name, text):
        path = Path(self.work) / name
        path.write_text(text)
        return str(path)

    def drive(self, client):
        try:
            while not self.end.is_set():
                client.request()
                if not self.go.is_set():
                    self.held.release()
                    self.go.wait()
                time.sleep(PAUSE)
        except (Failure, OSError) as failure:
            if not self.end.is_set():
                self.failures.append(failure)
                self.held.release()

    def load(self, clients, idle=()):
        """Clients that ask all the time; connections that only are there."""
        self.idle = list(idle)
        self.go.set()
        for client in clients:
            thread = threading.Thread(target=self.drive, args=(client,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def hold(self):
        """Stops the clients between two requests, their connections open."""
        self.go.clear()
        for _ in self.threads:
            if not self.held.acquire(timeout=TIMEOUT):
                raise Failure("a client got no answer")
        self.check()

    def resume(self):
        self.go.set()

    def check(self):
        if self.failures:
            raise Failure(f"a client failed: {self.failures[0]}")
        for process in self.processes:
            if process.poll() is not None:
                log = Path(f"{self.work}/log").read_text(errors="replace")[-400:]
                raise Failure(f"{process.args[0]} ended with {process.returncode}: {log}")

    def close(self):
        self.end.set()
        self.go.set()
        for process in self.processes:
            process.kill()
            process.wait(timeout=60)


def make_files(run):
    """A directory with a small file, and one that fits into no buffer."""
    files = Path(run.work) / "files"
    files.mkdir()
    (files / "small").write_bytes(b"hello\n" * 20)
    (files / "large").write_bytes(bytes(64 << 20))
    return str(files)


def load_http(run, port):
    clients = [Http(port) for _ in range(CLIENTS)]
    run.load(clients, [HttpStuck(port), HttpStuck(port), HttpHalf(port)])


def start_miniserve(run, binaries):
    port = free_port()
    files = make_files(run)
    run.start(binaries / "miniserve", "-i", "127.0.0.1", "-p", str(port), files)
    load_http(run, port)


def start_static_web_server(run, binaries):
    port = free_port()
    files = make_files(run)
    command = ("-a", "127.0.0.1", "-p", str(port), "-d", files, "--threads-multiplier", "1")
    run.start(binaries / "static-web-server", *command)
    load_http(run, port)


def start_mini_redis(run, binaries):
    port = free_port()
    run.start(binaries / "mini-redis-server", "--port", str(port))
    run.load([Redis(port) for _ in range(CLIENTS)], [RedisSubscriber(port), connect(port)])


RUMQTTD = """
id = 0
[router]
id = 0
max_connections = 100
max_outgoing_packet_count = 200
max_segment_size = 1048576
max_segment_count = 10
[v4.1]
name = "v4"
listen = "127.0.0.1:{port}"
next_connection_delay_ms = 1
    [v4.1.connections]
    connection_timeout_ms = 60000
    max_payload_size = 20480
    max_inflight_count = 100
    dynamic_filters = true
[console]
listen = "127.0.0.1:{console}"
"""


def start_rumqttd(run, binaries):
    port = free_port()
    config = run.write("rumqttd.toml", RUMQTTD.format(port=port, console=free_port()))
    run.start(binaries / "rumqttd", "-c", config, "-q")
    run.load([Mqtt(port) for _ in range(CLIENTS)], [MqttSubscriber(port), MqttSubscriber(port)])


RATHOLE = """
[{side}]
{address} = "127.0.0.1:{port}"
[{side}.services.echo]
token = "a token"
{service} = "127.0.0.1:{behind}"
"""


def start_rathole(run, binaries):
    port, tunnel = free_port(), free_port()
    server = {"side": "server", "address": "bind_addr", "service": "bind_addr"}
    client = {"side": "client", "address": "remote_addr", "service": "local_addr"}
    server = RATHOLE.format(**server, port=port, behind=tunnel)
    client = RATHOLE.format(**client, port=port, behind=serve_echo())
    run.start(binaries / "rathole", run.write("server.toml", server))
    connect(port).close()
    run.start(binaries / "rathole", run.write("client.toml", client))
    run.load([Echo(tunnel) for _ in range(CLIENTS)])


def start_bore(run, binaries):
    tunnel = free_port()
    # Its control port is always this one.
    control = 7835
    run.start(binaries / "bore", "server", "--bind-addr", "127.0.0.1")
    connect(control).close()
    echo = str(serve_echo())
    run.start(binaries / "bore", "local", echo, "--to", "127.0.0.1", "-p", str(tunnel))
    run.load([Echo(tunnel) for _ in range(CLIENTS)])


# package: its version, how Cargo is asked for it, what starts it. Without --locked Cargo takes the newest
# dependencies: rumqttd's and rathole's own locks do not build with rustc 1.95, and
# mini-redis's names tokio 1.8.
SERVERS = {
    "bore-cli": ("0.6.0", ["--locked"], start_bore),
    "mini-redis": ("0.4.1", [], start_mini_redis),
    "miniserve": ("0.35.0", ["--locked"], start_miniserve),
    "rathole": ("0.5.0", ["--no-default-features", "--features", "server,client"], start_rathole),
    "rumqttd": ("0.20.0", [], start_rumqttd),
    "static-web-server": ("2.44.1", ["--locked"], start_static_web_server),
}
