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
from tailrace_pull import config, entry_rules
from tailrace_pull.config import Entry

CASES = json.loads((REPOSITORY / "schemas" / "contracts" / "pulled_entry.json").read_text())
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
        kind: set(keys) - {"db_instance"} for kind, keys in entry_rules.REQUIRED.items()
    }, "the product makes a default of db_instance"
    assert PULLED_KEYS == entry_rules.KEYS


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


@pytest.mark.parametrize("case", [case for case in CASES if "added" in case])
def test_an_entry_has_its_keys_and_the_defaults_of_others(tmp_path, case):
    usual = {
        name: value for name, value in defaults(PulledSource).items() if value is not dataclasses.MISSING
    }
    expected = {**usual, "region": "", "db_instance": "", **case["entry"], **case["added"]}
    assert dataclasses.asdict(listed(tmp_path, case["entry"])) == expected


@pytest.mark.parametrize("case", [case for case in CASES if "problem" in case])
def test_an_invalid_entry_is_refused(tmp_path, case):
    with pytest.raises(SourcesError) as refused:
        listed(tmp_path, case["entry"])
    assert case["problem"] in str(refused.value)
