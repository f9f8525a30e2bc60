"""The OSCAL file of a bundle. Its form was compared with NIST's JSON schema of 1.1.2, which is not here."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import yaml

from tailrace.evidence import framework, oscal
from tailrace.evidence.coverage import Coverage
from tailrace.evidence.period import Period
from tailrace.evidence.report import Report
from tailrace.evidence.results import Stored

MADE_AT = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
PERIOD = Period(datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC))
TOKEN = re.compile(r"[a-zA-Z_][a-zA-Z0-9.\-_]*")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
REQUIRED = {"pci", "hipaa", "sox", "gdpr", "iso27001", "nist-800-53", "soc2"}


def report(name: str) -> Report:
    known = framework.load(name)
    stored = {each.name: Stored(each, 7, [], []) for each in known.results.values()}
    return Report(known, PERIOD, "ines", MADE_AT, "key", {}, Coverage([], [], 0, []), stored)


def values(document: object, key: str) -> Iterator[object]:
    """Yields all values of a key."""
    for child in document.values() if isinstance(document, dict) else document:
        if isinstance(child, dict | list):
            yield from values(child, key)
    if isinstance(document, dict) and key in document:
        yield document[key]


@pytest.mark.parametrize("name", framework.names())
def test_each_bundle_maps_its_results_to_controls_of_each_catalog(name):
    given = report(name)
    (document,) = oscal.document(given).values()

    assert len(document["results"]) == len(REQUIRED)
    assert document["metadata"]["oscal-version"] == "1.1.2"
    uuids = list(values(document, "uuid"))
    assert len(uuids) == len(set(uuids)) and all(map(UUID.fullmatch, uuids))
    assert document["import-ap"]["href"].removeprefix("#") in uuids
    assert all(map(TOKEN.fullmatch, values(document, "control-id")))
    files = {each["href"] for some in values(document, "relevant-evidence") for each in some}
    controls = [control for catalog in oscal.catalogs() for control in catalog.controls]
    mapped = {result for control in controls for result in control.results} & given.stored.keys()
    assert files == {f"results/{each}.{form}" for each in mapped for form in ("csv", "parquet")}
    assert "findings" not in str(document)


def test_an_observation_has_its_controls_rows_and_limits():
    (document,) = oscal.document(report("pci")).values()
    pci = document["results"][0]
    (found,) = [each for each in pci["observations"] if "results/refused_access.csv" in str(each)]

    assert [(each["name"], each["value"]) for each in found["props"]] == [
        ("rows", "7"),
        ("control", "pci-10.2.1.4"),
    ]
    assert found["remarks"].startswith("Cannot show: Attempts that never reached the server")
    assert (found["methods"], found["collected"]) == (["EXAMINE"], "2026-11-02T09:30:00+00:00")
    assert (pci["start"], pci["end"]) == ("2026-10-01T00:00:00+00:00", "2026-11-01T00:00:00+00:00")


def test_the_controls_name_known_results_of_every_required_catalog():
    defined = yaml.safe_load(framework.RESULTS.read_text()).keys()

    assert {catalog.name for catalog in oscal.catalogs()} == REQUIRED
    for catalog in oscal.catalogs():
        for control in catalog.controls:
            assert control.results and set(control.results) <= defined, control.id
