"""Decodes logs in OTLP, as the Kafka exporter of an OpenTelemetry Collector sends them: pure functions.

Source: opentelemetry-proto 1.x, ExportLogsServiceRequest (on the wire the same as LogsData), as protobuf
(`otlp_proto`) or JSON (`otlp_json`); attributes of the receiver `filelog`.
"""

import base64
import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf import descriptor_pb2, json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.resource.v1 import resource_pb2

from tailrace_pull.envelopes import Decoded
from tailrace_pull.object_records import Undecodable
from tailrace_pull.topic_reading import Content

NANOS = 1_000_000_000
NANOS_OF_MILLI = 1_000_000
TEXT_KEYS = ("stringValue", "string_value")
"""The names of the text of AnyValue that `json_format` accepts."""
CONTENT = "resourceLogs"
"""The one key of a message in JSON."""
ALLOY_JOB = "integrations/db-o11y"
"""`job` of what Grafana Alloy's component database_observability.mysql sends. `op` is the kind of record."""
BODIES = {
    "bytes_value": "bytes",
    "bool_value": "a truth value",
    "int_value": "a number",
    "double_value": "a number",
    "array_value": "a list",
    "kvlist_value": "a map",
}
"""Bodies that are no text of a log."""


def _class_with_text_as_bytes() -> type[Message]:
    """Returns ExportLogsServiceRequest in which the text of AnyValue is bytes. `filelog` with the encoding
    `utf-8-raw` sends text that is not UTF-8, for which protobuf refuses the whole message."""
    pool = DescriptorPool()
    for module in (common_pb2, resource_pb2, logs_pb2, logs_service_pb2):  # each before those that import it
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for field in (field for each in file.message_type if each.name == "AnyValue" for field in each.field):
            if field.name == "string_value":
                field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(ExportLogsServiceRequest.DESCRIPTOR.full_name))


Logs = _class_with_text_as_bytes()


@dataclass(frozen=True)
class Attributes:
    """Selects the records of one log by their attributes (`entries_file.Selection`)."""

    conditions: tuple[tuple[str, str], ...]
    """Name of an attribute and pattern of its value, in which `*` is any text. All must match."""

    @classmethod
    def parse(cls, text: str) -> "Attributes":
        """Reads `NAME=PATTERN,…`. Raises ValueError."""
        conditions = tuple(_condition(part) for part in text.split(","))
        if len(dict(conditions)) < len(conditions):
            raise ValueError(f"match names an attribute twice: {text!r}")
        return cls(conditions)

    def includes(self, log: tuple[str, ...]) -> bool:
        """Only entries of selected records are decoded."""
        return True

    def match(self, attributes: Mapping[str, str]) -> bool:
        return all(
            name in attributes and _expression(pattern).fullmatch(attributes[name])
            for name, pattern in self.conditions
        )

    def contents(self, value: bytes) -> Content:
        """Returns the entries of the selected records of a message; one Undecodable for a message in neither
        encoding. A message with a record that has the time at which it was read never has an equal one."""
        try:
            message = message_of(value)
        except ValueError as error:
            return Content([Undecodable(len(value), str(error))])
        records = [each for each in records_of(message) if self.match(each.attributes)]
        return Content([each.decoded() for each in records], any(each.has_read_time for each in records))


@functools.cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Only `*` has a meaning: `?` and brackets occur in paths."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def _condition(text: str) -> tuple[str, str]:
    name, is_condition, pattern = (part.strip() for part in text.partition("="))
    if not is_condition or not name or not pattern:
        raise ValueError(
            f"match must be NAME=PATTERN,…, such as host.name=db-1,log.file.name=slow.log, not {text!r}"
        )
    return name, pattern


@dataclass(frozen=True)
class Record:
    """A log record with the attributes of its resource and scope."""

    record: Message
    """A LogRecord, with its text as bytes."""
    attributes: Mapping[str, str]
    """An attribute of the record has priority over one of the scope, and that over one of the resource."""

    @property
    def has_read_time(self) -> bool:
        """Whether it has the time at which the receiver read it. Other senders put the time of the event
        there, or one in seconds, which equal lines may share."""
        read_at = self.record.observed_time_unix_nano
        return read_at % NANOS_OF_MILLI > 0 and read_at != self.record.time_unix_nano

    @property
    def event(self) -> str:
        """The name of the event, or the kind of a record of Grafana Alloy; empty for a line of a log."""
        return f"op={self.attributes.get('op', '')}" if self.is_of_alloy else self.record.event_name

    @property
    def is_of_alloy(self) -> bool:
        return self.attributes.get("job") == ALLOY_JOB

    def decoded(self) -> Decoded | Undecodable:
        """Returns its body as lines. Bytes are no lines: `filelog` with the encoding `nop` cuts a file
        anywhere."""
        kind = self.record.body.WhichOneof("value")
        if kind != "string_value" or self.is_of_alloy:
            return Undecodable(max(1, self.record.ByteSize()), self._reason(kind))
        content = self.record.body.string_value
        nanos = self.record.time_unix_nano or self.record.observed_time_unix_nano
        at = datetime.fromtimestamp(nanos / NANOS, UTC)
        return Decoded(("otlp",), at, "", content if content.endswith(b"\n") else content + b"\n")

    def _reason(self, kind: str | None) -> str:
        """Returns why it is no line, without a value of the record except the name of its event."""
        if self.is_of_alloy:
            return f"it is of Grafana Alloy ({self.event[:80]}), and no line of a log"
        found = f"its body is {BODIES.get(kind, kind)}, not text" if kind else "it has no body"
        return f"{found} (event {self.event[:80]!r})" if self.event else found


def message_of(value: bytes) -> Message:
    """Decodes a message in either encoding, which its first byte determines: `{` begins no protobuf of this
    type. Raises ValueError without a value of the message.

    The JSON of OTLP has trace ids in hexadecimal digits, and that of protobuf in base 64: ids that this
    returns from JSON are wrong. No one uses them.
    """
    try:
        return _of_json(value) if value[:1] == b"{" else _of_protobuf(value)
    except (DecodeError, json_format.Error, ValueError, RecursionError) as error:
        raise ValueError(f"expected logs in OTLP: {type(error).__name__}") from error


def _of_protobuf(value: bytes) -> Message:
    """Text without OTLP may be valid protobuf whose fields are all unknown."""
    found = Logs.FromString(value)
    if value and not found.resource_logs:
        raise ValueError(f"expected {CONTENT}")
    return found


def _of_json(value: bytes) -> Message:
    """The Collector writes bytes that are not UTF-8 into JSON as they are. Reading these takes longer."""
    try:
        found = ExportLogsServiceRequest()
        return Logs.FromString(_parsed(json.loads(value.decode()), found).SerializeToString())
    except UnicodeDecodeError:
        text = value.decode(errors="surrogateescape")
        return _parsed(json.loads(text, object_hook=_with_text_as_bytes), Logs())


def _parsed(document: dict[str, Any], into: Message) -> Message:
    if CONTENT not in document:
        raise ValueError(f"expected {CONTENT}")
    return json_format.ParseDict(document, into, ignore_unknown_fields=True)


def _with_text_as_bytes(found: dict[str, Any]) -> dict[str, Any]:
    """Writes the text of an AnyValue in base 64, as JSON has the bytes of `Logs`. Raises ValueError."""
    for name in TEXT_KEYS:
        if (text := found.get(name)) is not None:
            if not isinstance(text, str):
                raise ValueError(f"{name} is no text")
            found[name] = base64.b64encode(text.encode(errors="surrogateescape")).decode()
    return found


def records_of(message: Message) -> Iterator[Record]:
    for resource in message.resource_logs:
        of_resource = dict(texts(resource.resource.attributes))
        for scope in resource.scope_logs:
            of_scope = {**of_resource, **dict(texts(scope.scope.attributes))}
            for record in scope.log_records:
                yield Record(record, {**of_scope, **dict(texts(record.attributes))})


def texts(attributes: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """Yields names and values of attributes. A list, a map or bytes become an empty text."""
    for each in attributes:
        yield each.key, _text(each.value)


def _text(value: Message) -> str:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value.decode(errors="replace")
    if kind == "bool_value":
        return str(value.bool_value).lower()
    return str(getattr(value, kind)) if kind in ("int_value", "double_value") else ""
