"""The evidence of a bundle as OSCAL assessment results (1.1.2): which files are evidence for which controls.

Each result of the bundle is an observation with the method EXAMINE. There are no findings: whether a control
is satisfied is the assessor's judgement.
"""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from tailrace import __version__
from tailrace.evidence.report import Report
from tailrace.evidence.results import Stored

FILE = "oscal-assessment-results.json"
VERSION = "1.1.2"
CONTROLS = Path(__file__).parent / "controls.yaml"
NAMESPACE = "urn:tailrace:evidence"
UUIDS = uuid.UUID("0d1a7bd5-6a3f-4f0c-9d3c-2f5f0f6f5a10")
"""The namespace of the ids in a file: the same bundle has the same ids."""
METHOD = "EXAMINE"

Json = dict[str, object]


@dataclass(frozen=True)
class Control:
    """A control of a catalog."""

    id: str
    title: str
    results: Sequence[str]
    """Results that are evidence for it."""


@dataclass(frozen=True)
class Catalog:
    """Controls of one standard."""

    name: str
    title: str
    controls: Sequence[Control]


@cache
def catalogs() -> tuple[Catalog, ...]:
    """Returns the catalogs of controls.yaml."""
    content = yaml.safe_load(CONTROLS.read_text())
    return tuple(
        Catalog(
            name, each["title"], tuple(Control(id_, **control) for id_, control in each["controls"].items())
        )
        for name, each in content.items()
    )


def text(report: Report) -> str:
    """Returns the file."""
    return json.dumps(document(report), indent=1, ensure_ascii=False) + "\n"


def document(report: Report) -> Json:
    """Returns the assessment results: one result for each catalog with evidence in this bundle."""
    plan = _id(report, "plan")
    queries = {"href": "README.txt", "media-type": "text/plain"}
    return {
        "assessment-results": {
            "uuid": _id(report, "assessment"),
            "metadata": {
                "title": f"Evidence from database logs, {report.framework.title}",
                "last-modified": report.made_at.isoformat(timespec="seconds"),
                "version": __version__,
                "oscal-version": VERSION,
                "props": [_prop("framework", report.framework.name), _prop("exported-by", report.actor)],
            },
            "import-ap": {"href": f"#{plan}"},
            "results": list(_results(report)),
            "back-matter": {
                "resources": [
                    {
                        "uuid": plan,
                        "title": "Queries of this bundle",
                        "description": "There is no assessment plan: queries/*.sql define the examined data.",
                        "rlinks": [queries],
                    }
                ]
            },
        }
    }


def _results(report: Report) -> Iterator[Json]:
    for catalog in catalogs():
        if supported := _supported(catalog, report.stored):
            names = [name for name in report.stored if any(name in each.results for each in supported)]
            yield {
                "uuid": _id(report, catalog.name),
                "title": catalog.title,
                "description": f"Records of {report.period}. An empty result proves nothing where logs are "
                "not covered: see the observations on coverage, and report.pdf.",
                "start": report.period.first.isoformat(),
                "end": report.period.end.isoformat(),
                "reviewed-controls": {
                    "control-selections": [
                        {"include-controls": [{"control-id": each.id} for each in supported]}
                    ]
                },
                "observations": [
                    _observation(report, catalog, report.stored[name], supported) for name in names
                ],
            }


def _supported(catalog: Catalog, stored: Mapping[str, Stored]) -> list[Control]:
    return [control for control in catalog.controls if stored.keys() & set(control.results)]


def _observation(report: Report, catalog: Catalog, stored: Stored, controls: Sequence[Control]) -> Json:
    served = [each for each in controls if stored.name in each.results]
    observation: Json = {
        "uuid": _id(report, f"{catalog.name} {stored.name}"),
        "title": stored.result.title,
        "description": "; ".join(each.title for each in served),
        "props": [_prop("rows", str(stored.rows)), *(_prop("control", each.id) for each in served)],
        "methods": [METHOD],
        "relevant-evidence": [
            {"href": f"results/{stored.name}.{form}", "description": f"All rows, as {form}"}
            for form in ("csv", "parquet")
        ],
        "collected": report.made_at.isoformat(timespec="seconds"),
    }
    if limits := _limits(report, stored.name):
        observation["remarks"] = limits
    return observation


def _limits(report: Report, name: str) -> str:
    """Returns what the result cannot show, by the requirements of the bundle's framework that it serves."""
    found = [each.cannot_show for each in report.framework.requirements if name in each.results]
    return " ".join(dict.fromkeys(f"Cannot show: {each.strip()}" for each in found))


def _prop(name: str, value: str) -> Json:
    return {"name": name, "ns": NAMESPACE, "value": value}


def _id(report: Report, of: str) -> str:
    whose = f"{report.framework.name} {report.period} {report.made_at.isoformat()} {report.actor} {of}"
    return str(uuid.uuid5(UUIDS, whose))
