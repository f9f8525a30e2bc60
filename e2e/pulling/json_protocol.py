"""The server's side of AWS's JSON protocol, made from botocore's service models.

A request and an answer are validated against the model of their operation, so a parameter that the service
does not have, or of another type or range, is refused.
"""

import json
from collections.abc import Mapping
from functools import partial
from http.server import ThreadingHTTPServer
from typing import Any

from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

from e2e.pulling import service_http
from e2e.pulling.service_http import FaultError, Handler

TARGET = "X-Amz-Target"
CONTENT = "application/x-amz-json-1.1"


def client(service: str, handler: Handler) -> Any:
    """Returns a client of boto3 that asks the handler in this process."""
    return service_http.client(service, partial(_respond, handler))


def serve(service: str, handler: Handler) -> ThreadingHTTPServer:
    """Returns a server on a free port of loopback; the caller runs and closes it."""
    return service_http.serve(service, partial(_respond, handler))


def _respond(
    handler: Handler, model: ServiceModel, headers: Mapping[str, Any], body: bytes
) -> tuple[int, str, bytes]:
    status, content = answer(model, headers[TARGET], body, handler)
    return status, CONTENT, content


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
