#!/usr/bin/env python3
"""A stand-in for a debuginfod server, for tests.

usage: debuginfod.py DIRECTORY
       debuginfod.py --silent
       debuginfod.py --endless

Serves DIRECTORY/buildid/ID/debuginfo on 127.0.0.1, or accepts connections and never answers, or
answers without end, a byte at a time. Its first line of output is its URL; then it prints each path
that it was asked for. It ends when its standard input does.
"""

import http.server
import os
import socket
import sys
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        print(self.path, flush=True)


class Endless(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.end_headers()
        pause = threading.Event()
        while not pause.wait(0.5):
            self.wfile.write(b"\x7f")
            self.wfile.flush()

    def log_message(self, *_):
        pass


def main():
    if sys.argv[1:] == ["--silent"]:
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        port = listener.getsockname()[1]
    else:
        endless = sys.argv[1:] == ["--endless"]
        if not endless:
            os.chdir(sys.argv[1])
        server = Server(("127.0.0.1", 0), Endless if endless else Files)
        port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{port}/", flush=True)
    sys.stdin.read()


main()
