"""OpenTelemetry's messages in both encodings of the Collector's Kafka exporter."""

import json

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

ID_NAMES = ("traceId", "spanId", "parentSpanId")


def as_protobuf(request: ExportTraceServiceRequest) -> bytes:
    """Encodes as otlp_proto."""
    return request.SerializeToString()


def as_json(request: ExportTraceServiceRequest) -> bytes:
    """Encodes as otlp_json: protobuf's JSON, but ids in hexadecimal digits and enums as numbers."""
    message = json_format.MessageToDict(request, use_integers_for_enums=True)
    for of_resource, encoded in zip(message["resourceSpans"], request.resource_spans, strict=True):
        for of_scope, scope in zip(of_resource["scopeSpans"], encoded.scope_spans, strict=True):
            for span, source in zip(of_scope["spans"], scope.spans, strict=True):
                ids = (source.trace_id, source.span_id, source.parent_span_id)
                span.update({name: value.hex() for name, value in zip(ID_NAMES, ids, strict=True)})
    return json.dumps(message).encode()
