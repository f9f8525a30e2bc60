"""sources.yaml, the puller and the Helm chart have the same entries of pulled logs.

The puller runs without the package of the product, so each has its own definition of an entry.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from tailrace.config.resources import REPOSITORY
from tailrace.programs import pull
from tailrace.sources import pulled_entry, sources_file
from tailrace.sources.pulled_entry import ALSO_REQUIRED, PULLED_KEYS, PulledSource
from tailrace.sources.sources_file import SourcesError
from tailrace_pull import config
from tailrace_pull.config import Clients, ConfigurationError, Entry

VALUES = {"url": {"objects": "gs://logs", "event_hubs": "eventhubs://shop/logs", "otlp": "kafka://k:1/logs"}}
"""Values by key and kind; of other keys, any text is valid."""


def defaults(kind: type) -> dict[str, object]:
    return {field.name: field.default for field in dataclasses.fields(kind)}


def required(kind: str) -> set[str]:
    return {PULLED_KEYS[kind][0], *ALSO_REQUIRED.get(kind, ())}


def values(kind: str, keys: set[str], **more: str) -> dict[str, str]:
    texts = {key: VALUES.get(key, {}).get(kind, "a=b") for key in keys}
    return {"instance": "db", "source": "slowlog", "kind": kind, **texts, **more}


def listed(directory: Path, entry: dict[str, str]) -> PulledSource:
    (log,) = sources_file.parse(directory / "sources.yaml", json.dumps([entry]).encode()).pulled
    return log


def test_an_entry_has_the_same_keys_and_defaults_in_both_packages():
    product, puller = defaults(PulledSource), defaults(Entry)
    assert set(product) == set(puller)
    optional = {name: usual for name, usual in product.items() if usual is not dataclasses.MISSING}
    assert optional == {name: puller[name] for name in optional}


def test_the_kinds_and_their_required_keys_are_the_same_in_both_packages():
    assert {kind: required(kind) for kind in PULLED_KEYS} == {
        kind: set(keys) - {"db_instance"} for kind, keys in config.REQUIRED.items()
    }, "the product makes a default of db_instance"


def test_the_chart_has_the_same_keys_and_kinds():
    schema = json.loads((REPOSITORY / "helm" / "tailrace" / "values.schema.json").read_text())
    keys = schema["properties"]["pull"]["properties"]["logs"]["items"]["properties"]
    assert set(keys) == set(defaults(PulledSource))
    sources = [*pulled_entry.KINDS, pulled_entry.PERFORMANCE_SCHEMA]
    assert (keys["kind"]["enum"], keys["source"]["enum"]) == (list(PULLED_KEYS), sources)


@pytest.mark.parametrize("kind", PULLED_KEYS)
def test_the_puller_reads_what_the_product_writes(tmp_path, kind):
    log = listed(tmp_path, values(kind, required(kind)))
    file = tmp_path / "logs.json"
    file.write_text(pull.listed([log]))
    (entry,) = config.load(file)
    assert dataclasses.asdict(entry) == dataclasses.asdict(log)
    assert bool(entry.db_instance) == ("db_instance" in PULLED_KEYS[kind])


@pytest.mark.parametrize(
    ("key", "text", "is_valid"),
    [
        ("match", "host.name = db-1, log.file.name=slow.log*", True),
        ("match", "a=b=c", True),
        ("match", "host.name", False),
        ("match", "=b", False),
        ("match", "a= ", False),
        ("match", "a=b,", False),
        ("match", "a=b,a =c", False),
        ("url", "kafka://k1:9092,k2:9092/logs", True),
        ("url", "kafka://k1:9092", False),
        ("url", "kafka://k1:9092/a/b", False),
        ("url", "kafka:///logs", False),
        ("url", "kafka://me:secret@k1:9092/logs", False),
        ("url", "eventhubs://shop/logs", False),
    ],
)
def test_both_packages_accept_the_same_addresses_and_conditions_of_otlp(tmp_path, key, text, is_valid):
    entry = values("otlp", required("otlp"), **{key: text})
    assert accepts(lambda: listed(tmp_path, entry), SourcesError) == is_valid
    read = Entry(**entry, cluster="db")
    assert accepts(lambda: Clients().logs(read), ConfigurationError) == is_valid


@pytest.mark.parametrize("kind", [each for each in PULLED_KEYS if each != "otlp"])
def test_only_a_topic_has_records_from_performance_schema(tmp_path, kind):
    entry = values(kind, required(kind), source="performance_schema")
    with pytest.raises(SourcesError, match="source must be one of"):
        listed(tmp_path, entry)
    with pytest.raises(ValueError, match="performance_schema must have kind otlp"):
        Entry(**{"cluster": "db", "db_instance": "db", **entry})


def accepts(read, refusal: type[ValueError]) -> bool:
    try:
        read()
    except refusal:
        return False
    return True
