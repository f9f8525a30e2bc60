"""Serves a fake service of AWS: to a client of boto3 in this process, or on a port of loopback."""

import io
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import botocore.config
import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.model import ServiceModel

Handler = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Takes operation and parameters, returns the output or raises FaultError."""
Answer = Callable[[ServiceModel, Mapping[str, Any], bytes], tuple[int, str, bytes]]
"""Takes the model, headers and body of a request; returns status, content type and body."""


class FaultError(Exception):
    """An error that the service answers."""

    def __init__(self, code: str, message: str = "", status: int = 400) -> None:
        super().__init__(message or code)
        self.code, self.status = code, status


class _Body(io.BytesIO):
    """A body as botocore expects it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        while part := self.read():
            yield part


def client(service: str, answer: Answer) -> Any:
    """Returns a client of boto3 whose requests are answered in this process, without a network."""
    made = boto3.client(
        service,
        region_name="eu-central-1",
        aws_access_key_id="id",
        aws_secret_access_key="unused",
        config=botocore.config.Config(retries={"total_max_attempts": 1}),
    )
    model = made.meta.service_model

    def respond(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        body = request.body.encode() if isinstance(request.body, str) else request.body
        status, kind, content = answer(model, request.headers, body)
        return AWSResponse(request.url, status, {"Content-Type": kind}, _Body(content))

    made.meta.events.register(f"before-send.{model.service_name}", respond)
    return made


def serve(service: str, answer: Answer) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""
    model = botocore.session.get_session().get_service_model(service)

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, kind, content = answer(model, self.headers, body)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Requests)


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[str]:
    """Runs the server of a fake; yields its address."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
