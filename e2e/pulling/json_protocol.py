"""The server's side of AWS's JSON protocol, made from botocore's service models.

A request and an answer are validated against the model of their operation, so a parameter that the service
does not have, or of another type or range, is refused.
"""

import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from e2e.pulling.query_protocol import FaultError, Handler, _Body

TARGET = "X-Amz-Target"
CONTENT = "application/x-amz-json-1.1"


def connect(client: Any, handler: Handler) -> None:
    """Lets a client of boto3 ask the handler in this process, without a network."""
    model = client.meta.service_model

    def respond(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        status, content = answer(model, request.headers[TARGET], request.body, handler)
        return AWSResponse(request.url, status, {"Content-Type": CONTENT}, _Body(content))

    client.meta.events.register(f"before-send.{model.service_name}", respond)


def serve(service: str, handler: Handler) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""
    model = botocore.session.get_session().get_service_model(service)

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, content = answer(model, self.headers[TARGET], body, handler)
            self.send_response(status)
            self.send_header("Content-Type", CONTENT)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Requests)


def answer(
    model: ServiceModel, target: str | bytes, body: str | bytes, handler: Handler
) -> tuple[int, bytes]:
    """Returns status and body for a request."""
    target = target.decode() if isinstance(target, bytes) else target
    prefix, _, name = target.partition(".")
    assert prefix == model.metadata["targetPrefix"]
    operation = model.operation_model(name)
    try:
        asked = json.loads(body)
        _require(operation.input_shape, asked)
        output = handler(name, asked)
    except FaultError as fault:
        return fault.status, json.dumps({"__type": fault.code, "message": str(fault)}).encode()
    output = {key: value for key, value in output.items() if value is not None}
    _require(operation.output_shape, output)
    return 200, json.dumps(output).encode()


def _require(shape: Shape, value: Mapping[str, Any]) -> None:
    report = ParamValidator().validate(value, shape)
    unknown = value.keys() - shape.members.keys()
    if report.has_errors() or unknown:
        raise FaultError("InvalidParameterException", f"{report.generate_report()} {sorted(unknown)}")
