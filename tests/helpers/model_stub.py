"""A model service on loopback that does what the test says, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Stub:
    """`answer(handler)` writes each response."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.hung_up = threading.Event()
        self.go_on = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                stub.asked.append((self.path, dict(self.headers), json.loads(body)))
                try:
                    stub.answer(self, stub)
                except OSError:
                    stub.hung_up.set()

            def log_message(self, *_words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self):
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@contextmanager
def model_stub(answer):
    """A running stub."""
    stub = Stub(answer)
    try:
        yield stub
    finally:
        stub.close()


def plain(handler, status, body, kind="application/json", **headers):
    """One whole response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def begin_stream(handler):
    """The head of a response of events."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.end_headers()


def event(handler, text=None, **more):
    """One piece of a reply."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, **more}
    handler.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
    handler.wfile.flush()


def says(*pieces):
    """Streams a reply piece by piece."""

    def answer(handler, _stub):
        begin_stream(handler)
        handler.wfile.write(b": a comment\n\n")
        for piece in pieces:
            event(handler, piece)
        event(handler, finish_reason="stop")
        handler.wfile.write(b"data: [DONE]\n\n")

    return answer


def slow(handler, stub):
    """Begins, and says nothing more until it is let go on or the other side hangs up."""
    begin_stream(handler)
    event(handler, "one ")
    while not stub.go_on.wait(0.02):
        handler.wfile.write(b": still thinking\n\n")
        handler.wfile.flush()


def silent(_handler, stub):
    """Does not answer at all."""
    stub.go_on.wait()
