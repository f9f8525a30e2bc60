"""Messages as the Kafka exporter of an OpenTelemetry Collector sends them, built with OpenTelemetry's own
classes."""

import json
from collections.abc import Mapping, Sequence

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from tailrace_pull.config import Entry

NANOS = 1_000_000_000
ENTRY = (
    "# Time: 2026-11-27T10:00:01.000000Z\n# User@Host: app[app] @ []  Id: 7\n"
    "# Query_time: 1.000000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n"
    "SET timestamp=1795773600;\nselect %d;"
)


def record(body: AnyValue | str | None, attributes: Mapping[str, str], read_at: int = 0) -> LogRecord:
    """`read_at` is when the receiver read it, in nanoseconds since 1970 UTC; 0 without a time."""
    value = AnyValue(string_value=body) if isinstance(body, str) else body
    return LogRecord(
        body=value, attributes=pairs(attributes), observed_time_unix_nano=read_at, trace_id=bytes(range(16))
    )


def pairs(attributes: Mapping[str, str]) -> list[KeyValue]:
    return [KeyValue(key=name, value=AnyValue(string_value=value)) for name, value in attributes.items()]


def message(host: str, records: Sequence[LogRecord], encoding: str = "otlp_proto") -> bytes:
    """Returns the records of one host."""
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.extend(pairs({"host.name": host}))
    resource.scope_logs.add().log_records.extend(records)
    return request.SerializeToString() if encoding == "otlp_proto" else as_json(request)


def as_json(request: ExportLogsServiceRequest) -> bytes:
    """Returns OTLP's JSON, which has ids in hexadecimal digits and 64-bit numbers as strings."""
    document = json_format.MessageToDict(request)
    for resource in document.get("resourceLogs", ()):
        for scope in resource["scopeLogs"]:
            for each in scope.get("logRecords", ()):
                each["traceId"] = bytes(range(16)).hex()
    return json.dumps(document).encode()


def slow(*numbers: int, host: str = "db-1", read_at: int = 0, encoding: str = "otlp_proto") -> bytes:
    """Returns a message with an entry of a slow log for each number, as `filelog` with `multiline` does."""
    return message(
        host,
        [
            record(ENTRY % number, {"log.file.name": "slow.log"}, read_at and read_at + at)
            for at, number in enumerate(numbers)
        ],
        encoding,
    )


def entry(**more: str) -> Entry:
    """Returns an entry of the list of logs."""
    keys = {"url": "kafka://k1:9092,k2:9092/otlp_logs", "match": "host.name=db-1,log.file.name=slow.log*"}
    return Entry("db", "db", "slowlog", "otlp", **{**keys, **more})
