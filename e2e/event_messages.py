"""Messages of the topic tailrace.events, as the normalize job writes them."""

import io
import json
from functools import cache

import fastavro
import fastavro.schema

from tailrace.forwarding.decoder import HEADER_BYTES, MARKER, SCHEMAS, _self_contained

MICROS = 1_772_359_200_250_000
"""2026-03-01 10:00:00.25 UTC."""
_PLACE = {
    "cluster": "shop",
    "instance": "shop-db-1",
    "log": "/var/log/mysql/x.log",
    "generation": 1,
    "entry_offset": 0,
    "entry_bytes": 100,
    "event_time": MICROS,
}
_CLIENT = {"user": "app", "host": "web-1", "ip": "10.1.20.17", "connection_id": 41}
SELECT = {
    **_CLIENT,
    "source": "slowlog",
    "format": "mysql-slow",
    "database": "shop",
    "query_id": -5,
    "rule_set": "tailrace-1",
    "verb": "SELECT",
    "query_time": 2.013251,
    "rows_examined": 90_211,
    "tables_read": ["orders"],
    "fingerprint": "select * from orders where note = ?",
}
LOGIN = {
    **_CLIENT,
    "source": "audit",
    "format": "mariadb-audit",
    "event_class": "connection",
    "command": "CONNECT",
    "program_name": "mysqldump",
    "port": 51_000,
}
WRITE = {
    **_CLIENT,
    "source": "audit",
    "format": "mariadb-audit",
    "event_class": "query",
    "command": "QUERY",
    "verb": "UPDATE",
    "database": "shop",
    "tables_written": ["shop.cards"],
    "query_id": 7,
    "fingerprint": "update cards set pin = ?",
    "status": 1142,
}
MESSAGE = {
    "source": "errorlog",
    "format": "mysql-error",
    "level": "Error",
    "code": "MY-010926",
    "kind": "other",
    "message": "Something is wrong",
    "subsystem": "Server",
}


@cache
def _schema(name: str) -> tuple[bytes, object]:
    content = _self_contained(SCHEMAS / "avro", name)
    canonical = fastavro.schema.to_parsing_canonical_form(content)
    fingerprint = fastavro.schema.fingerprint(canonical, "CRC-64-AVRO")
    return MARKER + bytes.fromhex(fingerprint), fastavro.parse_schema(json.loads(json.dumps(content)))


def message(name: str, number: int = 1, **fields) -> bytes:
    """Returns an event. `number` determines its id."""
    header, schema = _schema(name)
    assert len(header) == HEADER_BYTES
    out = io.BytesIO(header)
    out.seek(HEADER_BYTES)
    fastavro.schemaless_writer(out, schema, {**_PLACE, **fields, "event_id": number.to_bytes(16, "big")})
    return out.getvalue()


def query(number: int = 1, **fields) -> bytes:
    return message("QueryEvent", number, **{**SELECT, **fields})


def login(number: int = 1, **fields) -> bytes:
    return message("AuditEvent", number, **{**LOGIN, **fields})


def write(number: int = 1, **fields) -> bytes:
    return message("AuditEvent", number, **{**WRITE, **fields})


def error(number: int = 1, **fields) -> bytes:
    return message("ErrorEvent", number, **{**MESSAGE, **fields})


def id_of(number: int) -> str:
    """Returns the id of the event with this number."""
    return f"{number:032x}"
