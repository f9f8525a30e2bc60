"""Compares the current Avro schemas with every released version in both directions (FULL_TRANSITIVE)."""

import json
from pathlib import Path

import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.name import Names
from avro.schema import Schema, make_avsc_object

SCHEMAS = Path(__file__).resolve().parents[1]
CURRENT = SCHEMAS / "avro"
RELEASED = sorted((SCHEMAS / "history").glob("v*"))


def load(directory: Path) -> dict[str, Schema]:
    """Returns the schemas by name, referenced ones first: EventId, DeadLetter, LedgerEntry."""
    files = sorted(directory.glob("*.avsc"), key=lambda file: (file.stem != "EventId", file.stem))
    names = Names()
    return {file.stem: make_avsc_object(json.loads(file.read_text()), names) for file in files}


def complaints(reader: Schema, writer: Schema) -> list[str]:
    result = ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)
    if result.compatibility is SchemaCompatibilityType.compatible:
        return []
    return sorted(
        f"{place}: {message}" for place, message in zip(result.locations, result.messages, strict=False)
    )


def test_there_is_a_released_version():
    assert [version.name for version in RELEASED] == [f"v{n}" for n in range(1, len(RELEASED) + 1)] != []


@pytest.mark.parametrize("version", RELEASED, ids=lambda version: version.name)
def test_no_record_goes_away(version):
    assert load(version).keys() <= load(CURRENT).keys()


@pytest.mark.parametrize("version", RELEASED, ids=lambda version: version.name)
@pytest.mark.parametrize("record", load(CURRENT))
def test_is_compatible_both_ways(version, record):
    released, current = load(version), load(CURRENT)
    if record not in released:
        pytest.skip(f"{record} is younger than {version.name}")
    assert complaints(current[record], released[record]) == []
    assert complaints(released[record], current[record]) == []


@pytest.mark.parametrize("version", RELEASED, ids=lambda version: version.name)
def test_columns_of_a_released_field_keep_their_type(version):
    for file in version.glob("*.avsc"):
        released, current = (columns(directory / file.name) for directory in (version, CURRENT))
        assert released == {name: current.get(name) for name in released}, file.stem


def columns(file: Path) -> dict[str, str | None]:
    """Returns the property "clickhouse" by field, which Avro's rules ignore."""
    return {
        field["name"]: field.get("clickhouse") for field in json.loads(file.read_text()).get("fields", [])
    }


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda record: record["fields"].append({"name": "new", "type": "string"}), "new"),
        (lambda record: record["fields"].pop(0), "query_id"),
        (lambda record: record["fields"][1].update(type="long"), "reader type: long"),
    ],
)
def test_the_check_finds_what_breaks_readers_or_writers(change, complaint):
    record = json.loads((CURRENT / "Fingerprint.avsc").read_text())
    before = make_avsc_object(record, Names())
    changed = json.loads(json.dumps(record))
    change(changed)
    after = make_avsc_object(changed, Names())

    found = complaints(before, after) + complaints(after, before)
    assert any(complaint in text for text in found), found
