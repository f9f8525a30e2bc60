"""Decodes the messages of the topic tailrace.events: Avro's single-object encoding, in any released
schema."""

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import fastavro
import fastavro.schema

from tailrace.config.resources import ROOT

SCHEMAS = ROOT / "schemas"
MARKER = b"\xc3\x01"
HEADER_BYTES = 10
"""The marker and the fingerprint of the writer's schema, CRC-64-AVRO in little-endian order."""
EVENTS = ("QueryEvent", "AuditEvent", "ErrorEvent")


@dataclass(frozen=True, slots=True)
class Decoded:
    """An event as it was written. Times are microseconds since 1970."""

    type: str
    """QueryEvent, AuditEvent or ErrorEvent."""
    fields: Mapping[str, object]


class Decoder:
    """Reads messages with every schema that was ever released, and with the current ones."""

    def __init__(self, schemas: Path = SCHEMAS) -> None:
        directories = [*sorted((schemas / "history").glob("v*")), schemas / "avro"]
        self._schemas = {
            fingerprint: (name, schema)
            for directory in directories
            for fingerprint, name, schema in _schemas_of(directory)
        }

    def decode(self, message: bytes) -> Decoded | None:
        """Returns the event, None if the message is none: a gap of a log, or a record of a later version.

        Raises ValueError if an event is damaged.
        """
        found = self._schemas.get(message[2:HEADER_BYTES])
        if found is None or not message.startswith(MARKER):
            return None
        name, schema = found
        stream = io.BytesIO(message)
        stream.seek(HEADER_BYTES)
        try:
            return Decoded(name, fastavro.schemaless_reader(stream, schema, None))
        except (EOFError, ValueError, IndexError, OverflowError) as error:
            raise ValueError(f"a damaged {name}: {error}") from error


def _schemas_of(directory: Path) -> Iterator[tuple[bytes, str, object]]:
    """Yields fingerprint, name and schema of each event of a version. A version may lack one."""
    for name in EVENTS:
        if not (directory / f"{name}.avsc").exists():
            continue
        named: dict[str, object] = {}
        for needed in ("EventId", name):
            content = _without_logical_types(json.loads((directory / f"{needed}.avsc").read_text()))
            schema = fastavro.parse_schema(content, named_schemas=named)
        canonical = fastavro.schema.to_parsing_canonical_form(_self_contained(directory, name))
        fingerprint = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
        yield bytes.fromhex(fingerprint), name, schema


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
    """Returns a schema that yields numbers for times: to create objects for them costs as much as the
    rest."""
    if isinstance(content, list):
        return [_without_logical_types(each) for each in content]
    if isinstance(content, dict):
        kept = {
            key: value for key, value in content.items() if key not in ("logicalType", "doc", "clickhouse")
        }
        return {key: _without_logical_types(value) for key, value in kept.items()}
    return content
