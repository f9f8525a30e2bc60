"""Entries of pulled logs: the cases of schemas/contracts/pulled_entry.json, which the product also runs."""

import dataclasses
import json
from pathlib import Path

import pytest

from tailrace_pull.config import Clients, ConfigurationError, Entry, load

CASES = json.loads(
    (Path(__file__).resolve().parents[3] / "schemas" / "contracts" / "pulled_entry.json").read_text()
)
OF_ALL_KINDS = {"cluster": "db", "db_instance": "db"}
"""What the product adds; `db_instance` only to entries of kinds that have it."""
ACCEPTED = [case for case in CASES if "added" in case]
REFUSED = [case for case in CASES if "problem" in case]


def read(directory: Path, entry: dict[str, object]) -> Entry:
    """Reads the entry as the puller does at its start, without a request to a service."""
    file = directory / "logs.json"
    file.write_text(json.dumps([entry]))
    (found,) = load(file)
    Clients().logs(found)
    return found


@pytest.mark.parametrize("case", ACCEPTED)
def test_an_entry_has_its_keys_and_the_defaults_of_others(tmp_path, case):
    written = {**case["entry"], **case["added"]}
    defaults = {
        field.name: field.default
        for field in dataclasses.fields(Entry)
        if field.default is not dataclasses.MISSING
    }
    found = read(tmp_path, written)
    assert dataclasses.asdict(found) == {**defaults, **written}
    assert read(tmp_path, dataclasses.asdict(found)) == found, "the product writes all keys"


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_entry_is_refused(tmp_path, case):
    added = OF_ALL_KINDS if case["entry"]["kind"] not in ("table", "otlp") else {"cluster": "db"}
    with pytest.raises(ConfigurationError) as refused:
        read(tmp_path, {**added, **case["entry"]})
    assert case["problem"] in str(refused.value)
