"""Verifies a bundle: checkpoints, tiles and entries of the log, signed ranges, rows, and coverage.

`scope.json` says what the bundle contains: `{"version": 1, "from": MINUTE, "to": MINUTE, "first": LEAF,
"end": LEAF, "tables": [TABLE, …]}`: the period [from, to), the leaves [first, end) that are in it, and the
tables all of whose rows are. Without it, the bundle is a whole log.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from tailrace_verify import chains, leaves, log, minutes, versions
from tailrace_verify.files import Files
from tailrace_verify.findings import Report
from tailrace_verify.leaves import Leaves
from tailrace_verify.log import Seen
from tailrace_verify.plural import counted
from tailrace_verify.trust import Trust, completed

SCOPE = "scope.json"
CHECK, COVERAGE = "scope", "coverage"
FORM = "%Y-%m-%dT%H:%M:%SZ"


class ScopeError(ValueError):
    """No scope; the message states why."""


@dataclass(frozen=True)
class Scope:
    """What a bundle contains; None and empty: not stated."""

    first: datetime | None = None
    end: datetime | None = None
    span: tuple[int, int] | None = None
    tables: tuple[str, ...] = ()


def verify(files: Files, trust: Trust, scope: Scope | None = None) -> Report:
    """Verifies the proofs of a bundle. `scope` is the auditor's own period, instead of the bundle's."""
    return examine(files, trust, scope)[0]


def examine(
    files: Files, trust: Trust, scope: Scope | None = None, settled: float | None = None
) -> tuple[Report, Leaves]:
    """Verifies the proofs of a bundle; returns also the leaves that are in the log.

    `settled` is for a log that runs: `Report.settled`.
    """
    report, held = Report(settled=settled), Leaves()
    trust = completed(trust, files, report)
    found = log.checkpoints(files, trust, report)
    stated = _stated(files, report)
    if scope:
        stated = replace(stated, first=scope.first or stated.first, end=scope.end or stated.end)
    if not found:
        report.undetermined("checkpoints", "no checkpoint of the log can be verified")
        return report, held
    for index, entry in log.entries(files, found, stated.span, report):
        leaves.add(index, entry, held, report)
    is_whole = stated.span is None or stated.span[0] == 0
    chains.verify(held, trust.hosts if trust.hosts is not None else held.keys, is_whole, report)
    _check_parts(held, is_whole, report)
    versions.verify(held.versions, report)
    minutes.verify(files, held.rows, report)
    inside = [leaf for leaf in held.rows.values() if is_inside(leaf.minute, stated)]
    minutes.check_complete(files, inside, stated.tables, report)
    _check_coverage(found[-1], stated, report)
    _describe(found[-1], stated, held, report)
    return report, held


def moment(text: str) -> datetime:
    """Parses `2026-11-26T10:31:00Z`. Raises ScopeError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ScopeError(f"expected a time such as 2026-11-26T10:31:00Z, found {text!r}") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _stated(files: Files, report: Report) -> Scope:
    if (text := files.read(SCOPE)) is None:
        return Scope()
    try:
        document = json.loads(text)
        if document["version"] != 1:
            raise ScopeError(f"version {document['version']} is unknown")
        return Scope(
            moment(document["from"]),
            moment(document["to"]),
            (int(document["first"]), int(document["end"])),
            tuple(map(str, document["tables"])),
        )
    except (ValueError, KeyError, TypeError) as error:
        report.tampered(CHECK, f"malformed: {error}", file=SCOPE)
        return Scope()


def _check_parts(held: Leaves, is_whole: bool, report: Report) -> None:
    """The parts of a minute are numbered without holes, in the order of the log."""
    for (table, minute, part), leaf in held.rows.items():
        before = held.rows.get((table, minute, part - 1))
        place = {"leaf": leaf.index, "table": table, "minute": minute}
        if part > 1:
            report.counts["late parts"] += 1
        if part > 1 and not before and is_whole:
            report.tampered("leaves", f"part {part} without part {part - 1}", **place)
        elif before and before.index > leaf.index:
            report.tampered("leaves", f"part {part} is before part {part - 1}", **place)


def is_inside(minute: str, scope: Scope) -> bool:
    """Whether a minute is in the period; a period without an end has none."""
    at = moment(minute)
    return not ((scope.first and at < scope.first) or (scope.end and at >= scope.end))


def _check_coverage(newest: Seen, scope: Scope, report: Report) -> None:
    """Minutes that were not over when the newest checkpoint was cosigned can have more rows."""
    if newest.time is None or scope.end is None:
        return
    reached = datetime.fromtimestamp(newest.time // 60 * 60, UTC)
    if reached >= scope.end:
        return
    first = max(reached, scope.first or reached)
    report.uncovered.append((first.strftime(FORM), scope.end.strftime(FORM)))
    count = (scope.end - first) // timedelta(minutes=1)
    report.incomplete(
        COVERAGE,
        f"{counted(count, 'minute is', 'minutes are')} without coverage: "
        f"the log ends at {log.shown(newest.time)}",
        minute=first.strftime(FORM),
    )


def _describe(newest: Seen, scope: Scope, held: Leaves, report: Report) -> None:
    checkpoint = newest.checkpoint
    report.about = {
        "origin": checkpoint.origin,
        "leaves": checkpoint.size,
        "cosigned_at": log.shown(newest.time) if newest.time else None,
        "from": scope.first.strftime(FORM) if scope.first else None,
        "to": scope.end.strftime(FORM) if scope.end else None,
        "tables": sorted({leaf.table for leaf in held.rows.values()}),
    }
    if late := report.counts["late parts"]:
        report.notes.append(
            f"{counted(late, 'leaf contains', 'leaves contain')} rows that arrived "
            "after their minute was recorded"
        )
    if again := report.counts["files that began again"]:
        report.notes.append(
            f"{counted(again, 'file')} began again at byte 0 while a range was open: truncated logs"
        )
