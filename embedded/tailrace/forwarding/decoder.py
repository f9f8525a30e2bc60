"""Decodes the messages of the topic tailrace.events: Avro's single-object encoding, in any released
schema."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import fastavro.schema

from tailrace.config.resources import ROOT
from tailrace.forwarding.record_reader import RecordReader

SCHEMAS = ROOT / "schemas"
MARKER = b"\xc3\x01"
HEADER_BYTES = 10
"""The marker and the fingerprint of the writer's schema, CRC-64-AVRO in little-endian order."""
EVENTS = ("QueryEvent", "AuditEvent", "ErrorEvent")
COUNTED = frozenset(
    (
        "query_time",
        "lock_time",
        "rows_sent",
        "rows_examined",
        "rows_affected",
        "bytes_sent",
        "status",
        "error_code",
    )
)
"""Numbers whose 0 is a value."""
INTERNAL = frozenset(("event_id", "event_time", "generation", "entry_bytes", "rule_set", "explain", "weight"))
"""Fields that are not forwarded as they are."""


@dataclass(slots=True)  # to create a frozen one costs several times as much
class Decoded:
    """An event as it was written."""

    type: str
    """QueryEvent, AuditEvent or ErrorEvent."""
    id: bytes
    micros: int
    """Event time in microseconds since 1970."""
    fields: dict[str, object]
    """Those that are forwarded: neither empty nor internal. Times are microseconds since 1970."""


class Decoder:
    """Reads messages with every schema that was ever released, and with the current ones."""

    def __init__(self, schemas: Path = SCHEMAS) -> None:
        directories = [*sorted((schemas / "history").glob("v*")), schemas / "avro"]
        self._readers = {
            fingerprint: (name, RecordReader(fields, COUNTED, INTERNAL))
            for directory in directories
            for fingerprint, name, fields in _schemas_of(directory)
        }

    def decode(self, message: bytes) -> Decoded | None:
        """Returns the event, None if the message is none: a gap of a log, or a record of a later version.

        Raises ValueError if an event is damaged.
        """
        found = self._readers.get(message[2:HEADER_BYTES])
        if found is None or not message.startswith(MARKER):
            return None
        name, reader = found
        try:
            return Decoded(name, *reader.read(message, HEADER_BYTES))
        except ValueError as error:
            raise ValueError(f"a damaged {name}: {error}") from error


def _schemas_of(directory: Path) -> Iterator[tuple[bytes, str, Sequence[Mapping]]]:
    """Yields fingerprint, name and fields of each event of a version. A version may lack one."""
    for name in EVENTS:
        if not (directory / f"{name}.avsc").exists():
            continue
        content = _without_logical_types(json.loads((directory / f"{name}.avsc").read_text()))
        canonical = fastavro.schema.to_parsing_canonical_form(_self_contained(directory, name))
        fingerprint = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
        yield bytes.fromhex(fingerprint), name, content["fields"]


def _self_contained(directory: Path, name: str) -> object:
    """Returns the schema with the definition of EventId where it is used first, as its fingerprint
    requires."""
    content = json.loads((directory / f"{name}.avsc").read_text())
    identifier = json.loads((directory / "EventId.avsc").read_text())
    for field in content["fields"]:
        if field["type"] == "EventId":
            field["type"] = identifier
            break
    return _without_logical_types(content)


def _without_logical_types(content: object) -> object:
    """Returns a schema without what does not concern the encoding."""
    if isinstance(content, list):
        return [_without_logical_types(each) for each in content]
    if isinstance(content, dict):
        kept = {
            key: value for key, value in content.items() if key not in ("logicalType", "doc", "clickhouse")
        }
        return {key: _without_logical_types(value) for key, value in kept.items()}
    return content
