"""Parquet files of OCSF objects, with the same columns in every file of a kind. Needs pyarrow, which is
optional.

A column that no object of a file has is empty. `unmapped` is a text with JSON, because its attributes differ.
"""

import io
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from tailrace.outputs.http import encode

TEXT, NUMBER = pa.string(), pa.int64()


def _struct(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([*fields.items()])


_NAMED = _struct(name=TEXT, uid=TEXT)
_USER = _struct(name=TEXT, uid=TEXT, type=TEXT, type_id=NUMBER)
_ENDPOINT = _struct(ip=TEXT, hostname=TEXT, port=NUMBER, name=TEXT, svc_name=TEXT)
_SESSION = _struct(uid=TEXT)
_ACTOR = _struct(user=_USER, app_name=TEXT, session=_SESSION)
_DATABASE = _struct(name=TEXT, uid=TEXT, type=TEXT, type_id=NUMBER)
_PRODUCT = _struct(name=TEXT, vendor_name=TEXT, version=TEXT)
_TACTIC = _struct(version=TEXT, tactic=_NAMED, technique=_NAMED, sub_technique=_NAMED)
_FINDING = _struct(
    uid=TEXT,
    title=TEXT,
    desc=TEXT,
    types=pa.list_(TEXT),
    analytic=_struct(uid=TEXT, name=TEXT, type_id=NUMBER, type=TEXT),
    attacks=pa.list_(_TACTIC),
    created_time=NUMBER,
    first_seen_time=NUMBER,
    last_seen_time=NUMBER,
    src_url=TEXT,
)
_EVIDENCE = _struct(
    actor=_ACTOR, src_endpoint=_ENDPOINT, dst_endpoint=_ENDPOINT, database=_DATABASE, data=TEXT
)
SCHEMA = pa.schema(
    [
        *(
            (name, NUMBER)
            for name in (
                "activity_id",
                "category_uid",
                "class_uid",
                "type_uid",
                "time",
                "severity_id",
                "status_id",
            )
        ),
        *(
            (name, TEXT)
            for name in ("activity_name", "category_name", "class_name", "severity", "status", "status_code")
        ),
        *((name, NUMBER) for name in ("duration", "start_time", "end_time", "count", "type_id")),
        *((name, TEXT) for name in ("type", "message", "unmapped")),
        (
            "metadata",
            _struct(
                version=TEXT, uid=TEXT, product=_PRODUCT, log_name=TEXT, log_provider=TEXT, logged_time=NUMBER
            ),
        ),
        ("user", _USER),
        ("actor", _ACTOR),
        ("session", _SESSION),
        ("src_endpoint", _ENDPOINT),
        ("dst_endpoint", _ENDPOINT),
        ("service", _struct(name=TEXT, version=TEXT)),
        ("app", _PRODUCT),
        ("database", _DATABASE),
        ("table", _NAMED),
        ("query_info", _struct(query_string=TEXT, uid=TEXT, bytes=NUMBER)),
        ("finding_info", _FINDING),
        ("evidences", pa.list_(_EVIDENCE)),
        ("resources", pa.list_(_struct(name=TEXT, type=TEXT))),
        ("observables", pa.list_(_struct(name=TEXT, type_id=NUMBER, type=TEXT, value=TEXT))),
        ("remediation", _struct(desc=TEXT)),
    ]
)


def encoded(documents: Sequence[Mapping[str, object]]) -> bytes:
    """Returns a file with one row for each object of OCSF."""
    rows = [_with_texts(document) for document in documents]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), out, compression="zstd")
    return out.getvalue()


def _with_texts(document: Mapping[str, object]) -> dict[str, object]:
    """Replaces objects without fixed attributes by JSON."""
    row = dict(document)
    if "unmapped" in row:
        row["unmapped"] = encode(row["unmapped"]).decode()
    if "evidences" in row:
        row["evidences"] = [
            {**each, "data": encode(each["data"]).decode()} if "data" in each else each
            for each in document["evidences"]
        ]
    return row
