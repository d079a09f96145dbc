"""A real server with scripted replies, and clients of it."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

import pytest


class Got(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: str


class Reply(NamedTuple):
    status: int = 200
    body: str = "{}"
    headers: Dict[str, str] = {}
    cut: Optional[str] = None
    """`before`: the connection breaks without a response. `within`: in the middle of the body."""


def ok(body: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(body))


def failure(status: int, code: str, retry_after: Optional[int] = None) -> Reply:
    body = {"error": {"code": code, "message": f"said {code}", "request_id": "r-1"}}
    return Reply(status, json.dumps(body), {} if retry_after is None else {"retry-after": str(retry_after)})


class Script:
    """Gives replies in turn, the last one from then on."""

    def __init__(self, replies: List[Reply]) -> None:
        self.got: List[Got] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_one(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                script.got.append(Got(self.command, self.path, headers, self.rfile.read(length).decode()))
                reply = replies[min(len(script.got), len(replies)) - 1]
                self.close_connection = True
                if reply.cut == "before":
                    return
                content = reply.body.encode()
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content) + (10 if reply.cut else 0)))
                self.send_header("connection", "close")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_one

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def script() -> Iterator[Callable[..., Script]]:
    scripts: List[Script] = []

    def start(*replies: Reply) -> Script:
        scripts.append(Script(list(replies)))
        return scripts[-1]

    yield start
    for one in scripts:
        one.close()
