"""Prints a report for people, or as JSON."""

import json
from collections.abc import Iterator, Mapping

from tailrace_verify.findings import MEANING, NOTED, Finding, Report, Status

MOST_SHOWN = 20
"""Findings in the text for people; JSON contains up to MOST_FINDINGS of each check."""
COUNTED = ("checkpoints", "leaves", "tiles", "minutes", "rows", "signed ranges", "bytes")


def document(report: Report) -> dict[str, object]:
    """Returns the report as JSON; keys are permanent."""
    return {
        "verdict": report.verdict.name.lower(),
        "exit_code": int(report.verdict),
        "about": report.about,
        "verified": {name.replace(" ", "_"): report.counts[name] for name in COUNTED},
        "findings": [_finding(each) for each in report.findings],
        "findings_total": sum(report.found.values()),
        "minutes_without_coverage": [{"from": first, "to": end} for first, end in report.uncovered],
        "notes": report.notes,
    }


def text(report: Report) -> str:
    """Returns the report for people; control characters are escaped."""
    return "".join(f"{plain(line)}\n" for line in _lines(report))


def as_json(report: Report) -> str:
    return json.dumps(document(report), indent=2, default=str) + "\n"


def plain(line: str) -> str:
    """Names in a bundle can contain control sequences for terminals."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in line)


def _finding(each: Finding) -> dict[str, object]:
    return {"status": _word(each.status), "check": each.check, "message": each.message, **each.place}


def _word(status: Status) -> str:
    return "noted" if status is NOTED else status.name.lower()


def _lines(report: Report) -> Iterator[str]:
    yield MEANING[report.verdict]
    if "origin" in report.about:
        yield _about(report.about)
    yield "verified  " + ", ".join(f"{report.counts[name]:,} {name}" for name in COUNTED)
    order = sorted(report.findings, key=lambda each: (each.status is NOTED, int(each.status)))
    for each in order[:MOST_SHOWN]:
        yield f"{_word(each.status)}  {each.check}: {each.message}{_shown(each.place)}"
    if (total := sum(report.found.values())) > MOST_SHOWN:
        yield f"and {total - MOST_SHOWN:,} more: --output json"
    for first, end in report.uncovered:
        yield f"without coverage  {first} to {end}"
    for note in report.notes:
        yield f"note  {note}"


def _about(about: Mapping[str, object]) -> str:
    period = f", {about['from']} to {about['to']}" if about.get("from") else ""
    time = about.get("cosigned_at") or "a time that no witness has confirmed"
    return f"log       {about['origin']}, {about['leaves']} leaves at {time}{period}"


def _shown(place: Mapping[str, object]) -> str:
    parts = [f"{name} {value}" for name, value in place.items() if value is not None]
    return f" ({', '.join(parts)})" if parts else ""
