"""Records of OpenTelemetry's mysqlreceiver and of Grafana Alloy in a topic of a real Kafka.

Messages are built with OpenTelemetry's own classes, in the published forms of both tools
(collectors/pull/tailrace_pull/performance_schema.py). No package registry has the Collector's binary.
"""

import time
from random import Random

from confluent_kafka import Producer
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

TOPIC = "tailrace.otlp.logs"
OBSERVED = {
    "cluster": "cloud",
    "source": "performance_schema",
    "kind": "otlp",
    "since": "2026-01-01",
}
PER_MESSAGE = 4
DIGEST = "c16f24f908846019a741db580f6545a5933e9435a7cf1579c50794a6ca287739"


class ObservedServer:
    """Counters and samples have a number, as `statements` or `thread_id`. Waits are only counted.

    Every fifth message is sent twice, and a message of another server follows each.
    """

    def __init__(self, address: str, name: str) -> None:
        """`name` is the attribute `service.instance.id` of its records."""
        self.name = name
        self._random = Random(11)
        self._producer = Producer({"bootstrap.servers": address})
        self._messages = 0
        self.counted: list[int] = []
        self.sampled: list[int] = []
        self.waits = 0

    def send(self, messages: int) -> None:
        for _ in range(messages):
            self._messages += 1
            request = self._request(self.name, [self._record() for _ in range(PER_MESSAGE)])
            other = self._request("another server", [_top_query(1)])
            values = [_encoded(each, self._messages % 2) for each in (request, other)]
            for value in (*values, values[0]) if self._messages % 5 == 0 else values:
                self._producer.produce(TOPIC, value)
        self._producer.flush()

    def _record(self) -> LogRecord:
        number = len(self.counted) + len(self.sampled) + 1
        kind = self._random.choice((_top_query, _running, _finished, None))
        if kind is None:
            self.waits += 1
            return _of_alloy("wait_event", f'digest="{DIGEST}" wait_event_name="wait/io/file/sql/FRM"')
        (self.counted if kind is _top_query else self.sampled).append(number)
        return kind(number)

    def _request(self, server: str, records: list[LogRecord]) -> ExportLogsServiceRequest:
        request = ExportLogsServiceRequest()
        resource = request.resource_logs.add()
        resource.resource.attributes.append(_attribute("service.instance.id", server))
        resource.scope_logs.add().log_records.extend(records)
        return request


def _event(name: str, attributes: dict[str, str | int | float]) -> LogRecord:
    return LogRecord(
        event_name=f"db.server.{name}",
        attributes=[_attribute(key, value) for key, value in attributes.items()],
        time_unix_nano=time.time_ns() | 1,  # mysqlreceiver: nanoseconds, and no time of observation
    )


def _top_query(number: int) -> LogRecord:
    prefix = "mysql.events_statements_summary_by_digest."
    counters = {f"{prefix}digest": DIGEST, f"{prefix}count_star": number, f"{prefix}sum_timer_wait": 0.5}
    return _event("top_query", {"db.namespace": "shop", "db.query.text": "SELECT ?", **counters})


def _running(number: int) -> LogRecord:
    found = {"mysql.threads.thread_id": number, "mysql.events_statements_current.digest": DIGEST}
    return _event("query_sample", {"db.namespace": "shop", "db.query.text": "SELECT ?", **found})


def _finished(number: int) -> LogRecord:
    fields = (
        f'schema="shop" thread_id="{number}" event_id="9" digest="{DIGEST}" rows_examined="7" rows_sent="1"'
        ' rows_affected="0" errors="0" elapsed_time="12.5ms"'
    )
    return _of_alloy("query_sample", f"{fields} sql_text=\"select 'x' from t where id = {number}\"")


def _of_alloy(op: str, line: str) -> LogRecord:
    labels = {"job": "integrations/db-o11y", "op": op}
    return LogRecord(
        body=AnyValue(string_value=f'level="info" {line}'),
        attributes=[_attribute(key, value) for key, value in labels.items()],
        time_unix_nano=time.time_ns(),
        observed_time_unix_nano=time.time_ns() | 1,
    )


def _attribute(name: str, value: str | int | float) -> KeyValue:
    kinds = {str: "string_value", int: "int_value", float: "double_value"}
    return KeyValue(key=name, value=AnyValue(**{kinds[type(value)]: value}))


def _encoded(request: ExportLogsServiceRequest, as_json: int) -> bytes:
    """OTLP's JSON differs from that of protobuf in ids only, and these records have none."""
    return (
        json_format.MessageToJson(request, indent=None).encode() if as_json else request.SerializeToString()
    )
