"""A server whose slow log an OpenTelemetry Collector reads and sends to a topic of a real Kafka.

Messages are built with OpenTelemetry's own classes, from the documentation of the receiver `filelog` and the
Kafka exporter. No package registry has the Collector's binary.
"""

import time
from pathlib import Path
from random import Random

from confluent_kafka import Producer
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from e2e.workload.shapes import MySql8
from e2e.workload.statements import ordinary
from e2e.workload.writer import LogWriter

TOPIC = "tailrace.otlp.logs"
COLLECTED = {
    "instance": "pulled-otlp",
    "cluster": "cloud",
    "source": "slowlog",
    "kind": "otlp",
    "match": "host.name=prod-1,log.file.name=slow.log*",
    "since": "2026-01-01",
}


class CollectedServer:
    """Its entries are records, each with all lines of one entry (`multiline`). The exporter sends every fifth
    message twice, and messages of another server in between."""

    def __init__(self, directory: Path, address: str) -> None:
        self._random = Random(9)
        self._producer = Producer({"bootstrap.servers": address})
        self._log = LogWriter(
            MySql8(self._random), COLLECTED["instance"], COLLECTED["cluster"], directory / "log", self._random
        )
        self._sent = self._messages = 0
        self.manifest = self._log.manifest
        self.manifest.path = f"/otlp/{TOPIC}/slowlog/{COLLECTED['instance']}.events"
        self._send()

    def write(self, entries: int) -> None:
        for _ in range(entries):
            self._log.write(ordinary(self._random))
            self._send()
        self._producer.flush()

    def finish(self) -> None:
        self._log.finish()
        self._send()
        self._producer.flush()

    def _send(self) -> None:
        content = self._log.path.read_bytes()
        body, self._sent = content[self._sent :].decode().removesuffix("\n"), len(content)
        if not body:
            return
        self._messages += 1
        own, other = self._message("prod-1", body), self._message("prod-2", body)
        for value in (own, other, own) if self._messages % 5 == 0 else (own, other):
            self._producer.produce(TOPIC, value)

    def _message(self, host: str, body: str) -> bytes:
        request = ExportLogsServiceRequest()
        resource = request.resource_logs.add()
        resource.resource.attributes.append(_attribute("host.name", host))
        record = resource.scope_logs.add().log_records.add()
        record.body.string_value = body
        record.attributes.append(_attribute("log.file.name", "slow.log"))
        record.observed_time_unix_nano = time.time_ns()
        return _json(request) if self._messages % 2 else request.SerializeToString()


def _attribute(name: str, value: str) -> KeyValue:
    return KeyValue(key=name, value=AnyValue(string_value=value))


def _json(request: ExportLogsServiceRequest) -> bytes:
    """OTLP's JSON differs from that of protobuf in ids only, and these records have none."""
    return json_format.MessageToJson(request, indent=None).encode()
