"""The server's side of AWS's query protocol, made from botocore's service models.

A request is checked against the model of its operation, so a parameter that the service does not have, or
of another type, is refused. An answer is written by the model of its output.
"""

import io
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape

import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.model import OperationModel, ServiceModel, Shape

Handler = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Takes operation and parameters, returns the output or raises FaultError."""

SCALARS: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "long": int,
    "boolean": lambda text: {"true": True, "false": False}[text],
}


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


def connect(client: Any, handler: Handler) -> None:
    """Lets a client of boto3 ask the handler in this process, without a network."""
    model = client.meta.service_model

    def respond(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        body = request.body.decode() if isinstance(request.body, bytes) else request.body
        status, content = answer(model, dict(urllib.parse.parse_qsl(body)), handler)
        return AWSResponse(request.url, status, {"Content-Type": "text/xml"}, _Body(content))

    client.meta.events.register(f"before-send.{model.service_name}", respond)


def serve(service: str, handler: Handler) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""
    model = botocore.session.get_session().get_service_model(service)

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            status, content = answer(model, dict(urllib.parse.parse_qsl(body)), handler)
            self.send_response(status)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Requests)


def answer(model: ServiceModel, form: dict[str, str], handler: Handler) -> tuple[int, bytes]:
    """Returns status and body for the fields of a request."""
    try:
        operation = model.operation_model(form.pop("Action"))
        form.pop("Version")
        return 200, _success(operation, handler(operation.name, parameters(operation.input_shape, form)))
    except FaultError as fault:
        return fault.status, _failure(fault)


def parameters(shape: Shape, form: Mapping[str, str]) -> dict[str, Any]:
    """Returns the typed parameters. Raises FaultError if the operation has no such parameter."""
    found: dict[str, Any] = {}
    for name, text in form.items():
        member = shape.members.get(name)
        if member is None or member.type_name not in SCALARS:
            raise FaultError("InvalidParameterValue", f"unknown parameter {name}")
        try:
            found[name] = SCALARS[member.type_name](text)
        except (KeyError, ValueError):
            raise FaultError("InvalidParameterValue", f"{name}={text}") from None
    for name in shape.required_members:
        if name not in found:
            raise FaultError("MissingParameter", name)
    return found


def _success(operation: OperationModel, output: Mapping[str, Any]) -> bytes:
    shape = operation.output_shape
    wrapper = shape.serialization.get("resultWrapper", f"{operation.name}Result")
    content = _structure(shape, output)
    return f"<{operation.name}Response><{wrapper}>{content}</{wrapper}></{operation.name}Response>".encode()


def _failure(fault: FaultError) -> bytes:
    text = f"<Code>{fault.code}</Code><Message>{escape(str(fault))}</Message>"
    return f"<ErrorResponse><Error><Type>Sender</Type>{text}</Error></ErrorResponse>".encode()


def _structure(shape: Shape, value: Mapping[str, Any]) -> str:
    unknown = value.keys() - shape.members.keys()
    assert not unknown, f"{shape.name} has no {unknown}"
    return "".join(
        _element(name, shape.members[name], each) for name, each in value.items() if each is not None
    )


def _element(name: str, shape: Shape, value: Any) -> str:
    tag = shape.serialization.get("name", name)
    if shape.type_name == "list":
        item = shape.member.serialization.get("name", "member")
        return f"<{tag}>{''.join(_element(item, shape.member, each) for each in value)}</{tag}>"
    if shape.type_name == "structure":
        return f"<{tag}>{_structure(shape, value)}</{tag}>"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"<{tag}>{escape(text)}</{tag}>"
