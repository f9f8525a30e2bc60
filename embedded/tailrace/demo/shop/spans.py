"""The spans of the shop's web application, as messages of the OpenTelemetry Collector (`otlp_json`)."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tailrace.demo.shop.services import Service
from tailrace.demo.shop.traffic import Call, Trace

TRACES_PER_MESSAGE = 50
CLIENT, SERVER = 3, 2
NANOS = 1_000_000_000


def messages(service: Service, traces: Iterable[Trace]) -> Iterator[bytes]:
    """Yields messages with up to TRACES_PER_MESSAGE traces of one version of the service."""
    waiting: list[Trace] = []
    for trace in traces:
        if waiting and (len(waiting) == TRACES_PER_MESSAGE or waiting[0].version != trace.version):
            yield _message(service, waiting)
            waiting = []
        waiting.append(trace)
    if waiting:
        yield _message(service, waiting)


def _message(service: Service, traces: list[Trace]) -> bytes:
    resource = {"service.name": service.name, "service.version": traces[0].version}
    spans = [span for trace in traces for span in _spans(service, trace)]
    scope = {"name": "opentelemetry.instrumentation.pymysql", "version": "0.60b1"}
    of_resource = {
        "resource": {"attributes": _attributes(resource)},
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }
    return json.dumps({"resourceSpans": [of_resource]}).encode()


def _spans(service: Service, trace: Trace) -> Iterator[dict[str, Any]]:
    yield from (_call(service, trace, call) for call in trace.calls)
    first, last = trace.calls[0], trace.calls[-1]
    endpoint = trace.endpoint
    yield {
        "traceId": trace.id,
        "spanId": trace.root,
        "parentSpanId": "",
        "name": f"{endpoint.method} {endpoint.route}",
        "kind": SERVER,
        **_period(first.at - 0.0006, last.at + last.seconds + 0.0011),
        "attributes": _attributes(
            {
                "http.request.method": endpoint.method,
                "http.route": endpoint.route,
                "http.response.status_code": 200,
            }
        ),
        "status": {},
    }


def _call(service: Service, trace: Trace, call: Call) -> dict[str, Any]:
    return {
        "traceId": trace.id,
        "spanId": call.span,
        "parentSpanId": trace.root,
        "name": f"{call.text.partition(' ')[0]} {service.database}",
        "kind": CLIENT,
        **_period(call.at, call.at + call.seconds),
        "attributes": _attributes(
            {"db.system.name": "mariadb", "db.namespace": service.database, "db.query.text": call.text}
        ),
        "status": {},
    }


def _period(start: float, end: float) -> dict[str, str]:
    return {"startTimeUnixNano": str(int(start * NANOS)), "endTimeUnixNano": str(int(end * NANOS))}


def _attributes(values: dict[str, str | int]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
    ]
