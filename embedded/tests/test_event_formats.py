"""Events as they are forwarded: kinds, and the required attributes of each published format.

The expected attributes are written by hand from OCSF 1.3.0 and 1.4.0, and from ECS 8.17.
"""

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import avro.io
import avro.schema
import pytest

from e2e import event_messages as messages
from e2e.event_messages import MICROS
from tailrace.forwarding import event_ecs, event_ocsf
from tailrace.forwarding.batch import FORMATS
from tailrace.forwarding.decoder import COUNTED, EVENTS, HEADER_BYTES, INTERNAL, SCHEMAS, Decoder
from tailrace.forwarding.event import Event, event_of, json_document
from tailrace.forwarding.record_reader import RecordReader
from tailrace.outputs.event_channels import KINDS

DECODER = Decoder()
ECS_TYPES = {"authentication": {"start", "end", "info"}, "database": {"access", "change", "info", "error"}}
REQUIRED = ("activity_id", "category_uid", "class_uid", "type_uid", "time", "severity_id", "metadata")
OF_CLASS = {3002: ("user",), 6005: ("actor", "src_endpoint", "database"), 6008: ("message",), 6002: ("app",)}
ACTIVITIES = {3002: range(8), 6005: range(11), 6008: range(3), 6002: range(9)}
ALL = [
    messages.query(),
    messages.query(user="", host="", ip="", database="", tables_read=[], fingerprint="", verb=""),
    messages.query(verb="CREATE TABLE", tables_read=[], tables_written=["a", "b"]),
    messages.login(),
    messages.login(command="FAILED_CONNECT", status=1045, user="", host="", ip=""),
    messages.login(command="DISCONNECT"),
    messages.login(command="Init DB"),
    messages.write(),
    messages.write(event_class="server", command="Audit"),
    messages.error(),
    messages.error(level="Note", code="", kind="access_denied", user="app", ip="10.0.0.1"),
]


def event(message: bytes, kinds=KINDS) -> Event | None:
    return event_of(DECODER.decode(message), kinds)


@pytest.mark.parametrize(
    ("message", "kind", "outcome", "is_login"),
    [
        (messages.query(), "data_access", "unknown", False),
        (messages.query(tables_read=[], error_code=0), "query", "success", False),
        (messages.query(error_code=1064), "data_access", "failure", False),
        (messages.login(), "login", "success", True),
        (messages.login(command="FAILED_CONNECT"), "login", "failure", True),
        (messages.login(command="Connect", event_name="pre_authenticate"), "login", "unknown", False),
        (messages.login(command="Connect", flags=["status_unknown"]), "login", "unknown", True),
        (messages.login(command="Quit"), "login", "success", False),
        (messages.write(event_class="query", flags=["logged_in"]), "login", "success", True),
        (messages.write(), "data_access", "failure", False),
        (messages.write(tables_written=[], object="cards", status=0), "data_access", "success", False),
        (messages.write(event_class="server", status=0), "server", "success", False),
        (messages.error(), "error", "unknown", False),
        (messages.error(kind="access_denied"), "login", "failure", True),
    ],
)
def test_the_kind_and_outcome_of_an_event(message, kind, outcome, is_login):
    found = event(message)
    assert (found.kind, found.outcome, found.is_login) == (kind, outcome, is_login)
    assert event(message, {*KINDS} - {kind}) is None


def test_unknown_values_are_absent_and_counted_zeros_remain():
    fields = event(messages.query(connection_id=0, rows_sent=0, rows_affected=None)).fields
    assert fields["rows_sent"] == 0 and not {"connection_id", "rows_affected", "error_code"} & fields.keys()
    assert "status" not in event(messages.login(flags=["status_unknown"])).fields


def test_json_has_the_names_of_the_schema():
    document = json_document(event(messages.query(255)))
    assert (document["event_id"], document["event_time"]) == (
        messages.id_of(255),
        "2026-03-01T10:00:00.250000Z",
    )
    assert (document["query_id"], document["query_time"]) == ("FFFFFFFFFFFFFFFB", 2.013251)
    assert {"generation", "entry_bytes"}.isdisjoint(document)


@pytest.mark.parametrize("message", ALL)
def test_ocsf_has_the_required_attributes(message):
    document = event_ocsf.document(event(message))
    class_uid = document["class_uid"]
    assert all(name in document for name in (*REQUIRED, *OF_CLASS[class_uid]))
    assert document["type_uid"] == 100 * class_uid + document["activity_id"]
    assert (
        document["activity_id"] in (*ACTIVITIES[class_uid], 99)
        and document["category_uid"] == class_uid // 1000
    )
    assert document["time"] == MICROS // 1000
    assert document["metadata"]["version"] == ("1.4.0" if class_uid == 6008 else "1.3.0")
    assert document["metadata"]["product"]["vendor_name"] == "Tailrace"
    if class_uid == 6005:
        assert document["database"]["type_id"] == 1 and document["src_endpoint"]
        assert document["actor"]["user"]["name"]
    if class_uid == 3002:
        assert document["user"]["name"] and document["dst_endpoint"]["hostname"] == "shop-db-1"


def test_ocsf_of_a_login_and_of_a_write():
    login = event_ocsf.document(event(messages.login(command="FAILED_CONNECT", status=1045)))
    assert (login["type_uid"], login["status_id"], login["status_code"]) == (300_201, 2, "1045")
    assert login["user"] == {"name": "app"} and login["severity"] == "Low"
    write = event_ocsf.document(event(messages.write()))
    assert (write["activity_name"], write["table"]) == ("Update", {"name": "shop.cards"})
    assert write["query_info"] == {"query_string": "update cards set pin = ?", "uid": f"{7:016X}"}


@pytest.mark.parametrize("message", ALL)
def test_ecs_has_allowed_categories_and_types(message):
    document = event_ecs.document(event(message))
    (category,), (type_,) = document["event"]["category"], document["event"]["type"]
    assert type_ in ECS_TYPES[category]
    assert document["event"].get("outcome", "unknown") in ("success", "failure", "unknown")
    assert document["event"]["id"] == messages.id_of(1) and document["ecs"]["version"] == "8.17.0"
    assert document["@timestamp"] == "2026-03-01T10:00:00.250000Z"


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_contains_an_empty_value(form):
    for message in ALL:
        text = json.dumps(FORMATS[form](event(message)))
        assert '""' not in text and "null" not in text and "{}" not in text, text


RELEASED = {
    ("v1", "QueryEvent"): "ed23be103aa66586",
    ("v1", "AuditEvent"): "12ddc89f422b28c7",
    ("v2", "QueryEvent"): "fe70e832065f3ddd",
    ("v2", "AuditEvent"): "33f2b728dd46695f",
    ("v2", "ErrorEvent"): "cd4717b604d729bc",
    ("v3", "QueryEvent"): "9cd618bea436db5a",
    ("v3", "AuditEvent"): "00016207121e7af7",
    ("v3", "ErrorEvent"): "cd4717b604d729bc",
}
"""The fingerprints that SchemaNormalization.parsingFingerprint64 of Avro for Java, which the jobs use,
returns."""


@pytest.mark.parametrize(("version", "name"), RELEASED)
def test_every_released_event_is_read(version, name):
    """Written by Apache's library, which shares no code with the one that reads."""
    directory = SCHEMAS / "history" / version
    found = event(bytes.fromhex(f"c301{RELEASED[version, name]}") + _written(directory, name))
    assert (found.id, found.instance) == (messages.id_of(7), "shop-db-1")
    assert found.time() == "2026-03-01T00:00:00.000000Z"


def _written(directory: Path, name: str) -> bytes:
    content = json.loads((directory / f"{name}.avsc").read_text())
    identifier = json.loads((directory / "EventId.avsc").read_text())
    next(field for field in content["fields"] if field["type"] == "EventId")["type"] = identifier
    values = {field["name"]: _value(field) for field in content["fields"]}
    out = io.BytesIO()
    avro.io.DatumWriter(avro.schema.parse(json.dumps(content))).write(values, avro.io.BinaryEncoder(out))
    return out.getvalue()


def _value(field: dict) -> object:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    known = {"event_id": (7).to_bytes(16, "big"), "instance": "shop-db-1", "event_time": at}
    if field["name"] in known:
        return known[field["name"]]
    kind = field["type"]["type"] if isinstance(field["type"], dict) else field["type"]
    plain = {"string": "x", "int": 1, "long": 1, "double": 1.0, "array": ["x"], "map": {"x": "y"}}
    return None if isinstance(kind, list) else plain[kind]


TEXTS = ("", "", "", "x", "ü" * 40, "€" * 5000)
NUMBERS = (0, 0, 1, -1, 63, 64, -64, -65, 300, 2**31 - 1)


def _random_value(random: Random, of: object) -> object:
    if isinstance(of, list):
        return random.choice((None, _random_value(random, of[1])))
    if isinstance(of, dict) and of["type"] == "array":
        return [random.choice(TEXTS) for _ in range(random.choice((0, 0, 1, 3)))]
    if isinstance(of, dict) and of["type"] == "map":
        return {f"k{number}": random.choice(TEXTS) for number in range(random.choice((0, 0, 1, 3)))}
    if of == "double":
        return random.choice((0.0, 1.5, -2e300))
    if of == "string":
        return random.choice(TEXTS)
    return random.choice(NUMBERS if of == "int" else (*NUMBERS, 2**63 - 1, -(2**63)))


@pytest.mark.parametrize("name", EVENTS)
def test_each_field_has_the_value_that_was_written(name):
    """Written by fastavro, with empty, long and extreme values; each prefix of a message is damaged."""
    random = Random(name)
    fields = json.loads((SCHEMAS / "avro" / f"{name}.avsc").read_text())["fields"]
    of_place = {"event_id", "event_time"}
    for number in range(200):
        given = {
            field["name"]: _random_value(random, field["type"])
            for field in fields
            if field["name"] not in of_place
        }
        message = messages.message(name, number, **given)
        found = DECODER.decode(message)
        expected = {
            field: value
            for field, value in given.items()
            if field not in INTERNAL and (value or (field in COUNTED and value is not None))
        }
        assert (found.type, found.id.hex(), found.micros) == (name, messages.id_of(number), MICROS)
        assert found.fields == expected and [*found.fields] == [*expected]
        with pytest.raises(ValueError, match="a damaged"):
            DECODER.decode(message[: random.randrange(HEADER_BYTES, len(message))])


def test_lists_in_blocks_with_sizes_are_read():
    """Writers of Avro may split a list into blocks, and precede each by its size in bytes."""
    fields = [{"name": "tables", "type": {"type": "array", "items": "string"}}]
    reader = RecordReader(fields, (), ())
    assert reader.read(b"\x01\x04\x02a\x04\x02b\x02c\x00", 0)[2] == {"tables": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x01", "negative size"),
        (b"\x7f", "negative size"),
        (b"", "ends too early"),
        (b"\x04x", "ends too early"),
        (10 * b"\xff" + b"\x01", "more than 64 bits"),
        (b"\x02\xff", "invalid start byte"),
    ],
)
def test_a_damaged_text_is_reported(data, reason):
    with pytest.raises(ValueError, match=reason):
        RecordReader([{"name": "user", "type": "string"}], (), ()).read(data, 0)


def test_a_type_that_no_event_has_is_refused():
    with pytest.raises(ValueError, match="no reader for the type of at"):
        RecordReader([{"name": "at", "type": "boolean"}], (), ())


def test_a_message_that_is_no_event_is_left_out():
    message = messages.login()
    assert DECODER.decode(b"") is None and DECODER.decode(b"\xc3\x01" + 8 * b"\0") is None
    with pytest.raises(ValueError, match="a damaged AuditEvent"):
        DECODER.decode(message[: HEADER_BYTES + 20])
