"""The server's side of AWS's query protocol, made from botocore's service models.

A request is checked against the model of its operation, so a parameter that the service does not have, or
of another type, is refused. An answer is written by the model of its output.
"""

import urllib.parse
from collections.abc import Callable, Mapping
from functools import partial
from http.server import ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape

from botocore.model import OperationModel, ServiceModel, Shape

from e2e.pulling import service_http
from e2e.pulling.service_http import FaultError, Handler

SCALARS: Mapping[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "long": int,
    "boolean": lambda text: {"true": True, "false": False}[text],
}


def client(service: str, handler: Handler) -> Any:
    """Returns a client of boto3 that asks the handler in this process."""
    return service_http.client(service, partial(_respond, handler))


def serve(service: str, handler: Handler) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""
    return service_http.serve(service, partial(_respond, handler))


def _respond(
    handler: Handler, model: ServiceModel, _: Mapping[str, Any], body: bytes
) -> tuple[int, str, bytes]:
    status, content = answer(model, dict(urllib.parse.parse_qsl(body.decode())), handler)
    return status, "text/xml", content


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
